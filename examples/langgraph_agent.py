"""A LangGraph agent that remembers: the Grimoire as its long memory, the mnestome as a record of what feeds what.

    pip install langgraph
    python examples/langgraph_agent.py [FOLDER]

The graph is the usual one (recall, think, act, remember). Its model is scripted, so that it runs here and now with no
key and no network; put any chat model in its place. What it was told in one conversation it knows in the next.
"""

import re
import sys
import tempfile
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

from metnos import Grimoire, Mnestome


class Talk(TypedDict, total=False):
    """What flows through the graph."""

    said: str
    session: str
    recalled: str
    answer: str


def scripted_model(prompt: str, said: str) -> str:
    """In the place of a language model: it answers from the data in its prompt, and from nothing else."""
    data = [line[2:] for line in prompt.splitlines() if line.startswith("| ")]
    if not said.endswith("?"):
        return "I will remember that."
    return re.sub(r"^\S+: ", "", data[0]) if data else "I do not know that."


def build(memory: Grimoire, graph: Mnestome) -> Any:
    """The agent. Each node is a plain function; the memory is an object like any other."""

    def recall(state: Talk) -> Talk:
        return {"recalled": memory.prompt(state["said"], k=3)}

    def think(state: Talk) -> Talk:
        prompt = f"Answer from the data, or say that you do not know.\n{state['recalled']}"
        if state["recalled"]:
            graph.passing("recall_memories", "think_answer", tags=["langgraph"])  # the one really fed the other
        return {"answer": scripted_model(prompt, state["said"])}

    def remember(state: Talk) -> Talk:
        memory.remember(state["said"], session=state["session"])
        return {}

    def is_news(state: Talk) -> str:
        return END if state["said"].endswith("?") else "remember"  # questions are nothing to remember

    flow = StateGraph(Talk)
    for name, node in (("recall", recall), ("think", think), ("remember", remember)):
        flow.add_node(name, node)
    flow.add_edge(START, "recall")
    flow.add_edge("recall", "think")
    flow.add_conditional_edges("think", is_news, ["remember", END])
    flow.add_edge("remember", END)
    return flow.compile()


TALKS = (
    ("monday", ("My sister's train arrives on Friday at 18:40.", "The cat is called Biscuit.")),
    (
        "thursday",
        ("When does the train of my sister arrive?", "What is the cat called?", "Who painted the hall?"),
    ),
)


def main(folder: str) -> None:
    with Grimoire(f"{folder}/memory") as memory, Mnestome(f"{folder}/mnestome") as graph:
        for session, sentences in TALKS:
            agent = build(memory, graph)  # a new agent, as in a new process: what it knows is in the memory alone
            print(f"-- {session}")
            for said in sentences:
                print(f"> {said}\n  {agent.invoke({'said': said, 'session': session})['answer']}")
        print("\nWhat fed what:")
        for mnest in graph.top():
            print(f"  {mnest.source} -> {mnest.target}: used {mnest.uses} times, weight {mnest.weight:.2f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(scratch)
