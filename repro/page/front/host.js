// A page inside a page: what a frame in a notebook takes from the page around it, and gives it.

const WANTS_DARK = matchMedia("(prefers-color-scheme: dark)");
const LATER = 600; // milliseconds; a notebook changes its colours a little after its theme

/** Whether the page around this frame is dark; that of nobody else is as the browser wants it. */
function isDark() {
  if (parent === window) return WANTS_DARK.matches;
  try {
    for (const node of [parent.document.body, parent.document.documentElement]) {
      const [red, green, blue, cover = 1] = parent
        .getComputedStyle(node)
        .backgroundColor.match(/[\d.]+/g)
        .map(Number);
      if (cover) return 0.3 * red + 0.6 * green + 0.1 * blue < 128;
    }
  } catch {
    return WANTS_DARK.matches; // a page of another origin
  }
  return false; // nothing is painted: paper is white
}

/** Call `set("dark" or "light")` now, and whenever the browser or the page around changes. */
export function followTheme(set) {
  const tell = () => set(isDark() ? "dark" : "light");
  tell();
  WANTS_DARK.addEventListener("change", tell);
  if (parent === window) return;
  try {
    const watcher = new MutationObserver(() => {
      tell();
      setTimeout(tell, LATER);
    });
    const { body, documentElement } = parent.document;
    for (const node of [body, documentElement]) watcher.observe(node, { attributes: true });
  } catch {
    // A page of another origin does not say when it changes.
  }
}

/** Make the frame as high as what is in it; lower again only at another width: nothing jumps. */
export function fitHeight() {
  let frame = null;
  try {
    frame = window.frameElement;
  } catch {
    return; // of a page of another origin
  }
  if (!frame) return;
  let width = null;
  new ResizeObserver(() => {
    const needed = Math.ceil(document.documentElement.offsetHeight) + 2;
    if (needed <= frame.clientHeight && width === frame.clientWidth) return;
    width = frame.clientWidth;
    frame.style.height = `${needed}px`;
  }).observe(document.documentElement);
}

/** Remove the words that stand below a frame where it cannot be shown. */
export function removeStandIn() {
  try {
    const next = window.frameElement?.nextElementSibling;
    if (next?.dataset.standIn !== undefined) next.remove();
  } catch {
    // They stay in a page of another origin.
  }
}
