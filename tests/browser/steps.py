"""What a hand does in JupyterLab, and what an eye then looks for."""

HOSTILE = "The <img src=x onerror=alert(1)> sees a dog."


def cell_with(lab, code: str):
    """Return the only cell whose code has this text."""
    return lab.page.locator(".jp-CodeCell").filter(
        has=lab.page.locator(".jp-Cell-inputWrapper", has_text=code)
    )


def text_of(place, selector: str) -> str:
    return " ".join(place.locator(selector).all_text_contents())


def type_sentence(place, sentence: str) -> None:
    field = place.get_by_label("sentence")
    field.fill(sentence)
    field.press("Enter")


def until(lab, condition, what: str, seconds: float = 120) -> None:
    """Wait until the page is as it should be."""
    for _ in range(int(seconds * 10)):
        if condition():
            return
        lab.page.wait_for_timeout(100)
    raise AssertionError(f"waited {seconds} s for {what}")


def until_still(lab, place, selector: str) -> str:
    """Wait until a text has not changed for a second while the kernel had nothing to do, and return
    it."""
    kernel = lab.page.locator(".jp-Notebook-ExecutionIndicator").first
    text, since = text_of(place, selector), 0
    while since < 10:
        lab.page.wait_for_timeout(100)
        before, text = text, text_of(place, selector)
        since = since + 1 if text == before and kernel.get_attribute("data-status") == "idle" else 0
    return text


def check_quiet(lab) -> None:
    """Nothing left the machine, nothing was wrong, no script of a sentence ran, no markup of a
    label or sentence was read."""
    found = {"asked for": lab.outside, "complained": lab.errors, "dialogs": lab.dialogs}
    if any(found.values()):  # pytest does not explain assertions of this file
        raise AssertionError(str(found))
    places = ".rp img, .rp script, .rp b, .rp i, .widget-html img, .widget-html script"
    assert lab.page.locator(places).count() == 0
