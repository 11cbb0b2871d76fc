// Hands on the picture: drag, pinch, wheel and click.
// Rules: a wheel turns the page unless the picture was clicked or tabbed into, or Ctrl is held: nobody is caught in it.

const STILL = 4;  // pixels: less is a click

export function hands(picture, { choose }) {
  const { stage } = picture, down = new Map();
  let moved = 0, spread = 0, pointing = false;
  const at = (event) => { const box = stage.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };
  const apart = () => { const [one, two] = [...down.values()]; return Math.hypot(one.x - two.x, one.y - two.y); };
  const middle = () => { const [one, two] = [...down.values()]; return { x: (one.x + two.x) / 2, y: (one.y + two.y) / 2 }; };

  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    stage.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    if (down.size === 1) moved = 0;
    if (down.size === 2) spread = apart();
  });
  stage.addEventListener("pointermove", (event) => {
    const was = down.get(event.pointerId), now = at(event);
    if (!was) { point(now); return; }
    down.set(event.pointerId, now);
    moved += Math.hypot(now.x - was.x, now.y - was.y);
    if (moved < STILL) return;
    picture.moveBy((was.x - now.x) / down.size, (was.y - now.y) / down.size);
    if (down.size === 2) { const wider = apart(); picture.zoomAt(wider / (spread || wider), middle()); spread = wider; }
  });
  const up = (event) => {
    if (down.delete(event.pointerId) && !down.size && moved < STILL && event.type === "pointerup") click(at(event));
  };
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", up);
  stage.addEventListener("pointerleave", () => { picture.hover(null); picture.point({}); });
  stage.addEventListener("dblclick", (event) => picture.zoomAt(1.8, at(event)));
  stage.addEventListener("wheel", (event) => {
    if (document.activeElement !== stage && !event.ctrlKey) return;
    event.preventDefault();
    picture.zoomAt(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), at(event));
  }, { passive: false });

  function click(place) {
    const node = picture.nearest(place), mnest = node ? null : picture.line(place);
    stage.focus({ preventScroll: true });
    choose(node ? { node } : mnest ? { mnest } : {});
  }
  function point(place) {
    if (pointing) return;
    pointing = true;
    requestAnimationFrame(() => {
      pointing = false;
      const node = picture.nearest(place);
      picture.hover(node);
      picture.point(node ? { node } : { mnest: picture.line(place) });
    });
  }
}
