// The state in the address of the page, so that a link opens the same view again.

const PAUSE = 250; // milliseconds; browsers let a page write its address only so often

export class Address {
  /** `isOurs`: whether the address of the page is for this state at all. */
  constructor(isOurs = false) {
    this.isOurs = isOurs;
    this.writing = null;
  }

  /** Write a state's link into the address, a little later. */
  keep(link) {
    if (!this.isOurs) return;
    clearTimeout(this.writing);
    this.writing = setTimeout(() => {
      this.writing = null;
      try {
        history.replaceState(null, "", `#${link}`);
      } catch {
        // A page inside another one may not: the link is still copied by its button.
      }
    }, PAUSE);
  }

  /** Copy the address with a link; return in words what was done. */
  async copy(link) {
    try {
      await navigator.clipboard.writeText(`${location.href.split("#")[0]}#${link}`);
      return "The link is copied.";
    } catch {
      if (!this.isOurs) return "The browser does not allow this page to copy.";
      location.hash = link;
      return "The link is in the address bar.";
    }
  }
}
