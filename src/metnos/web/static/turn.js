// Shows the answer of a turn as the chat does.

import { show } from "./answer.js";

for (const answer of document.querySelectorAll("[data-answer]")) show(answer, answer.textContent);
