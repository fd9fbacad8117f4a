/**
 * Keeps the focus near its place when the element that has it is removed, such as the row of a key that was revoked: people
 * without a mouse would start again at the top of the page. Inputs are not chosen, as they open the keyboard of a telephone.
 */
export function keepFocus(): void {
  let path: readonly Element[] = []
  addEventListener('focusin', ({ target }) => {
    path = pathOf(target as Element)
  })
  const observer = new MutationObserver((records) => {
    const [focused] = path
    if (focused === undefined || focused.isConnected) return
    const place = path.find((element) => element.isConnected)
    const removal = records.find(
      ({ target, removedNodes }) =>
        target === place && [...removedNodes].some((node) => path.includes(node as Element)),
    )
    path = []
    if (document.activeElement !== document.body) return
    // Without one of them, a whole screen has gone.
    const near = place?.matches('main, body') === false ? [...besides(removal), place] : []
    const next = near.map(choiceIn).find((found) => found !== null)
    ;(next ?? document.querySelector('h1'))?.focus({ preventScroll: true })
  })
  observer.observe(document.body, { childList: true, subtree: true })
}

const choices = ':is(a[href], button:enabled):not([tabindex="-1"])'

function choiceIn(element: Element): HTMLElement | null {
  return element.matches(choices) ? (element as HTMLElement) : element.querySelector(choices)
}

/** Returns the elements that are now at the place of one that was removed: what replaces it or is after it, and before it. */
function besides(removal: MutationRecord | undefined): readonly Element[] {
  if (removal === undefined) return []
  const target = removal.target as Element
  // Text has the same properties.
  const previous = removal.previousSibling as Element | null
  const next = removal.nextSibling as Element | null
  return [
    previous ? previous.nextElementSibling : target.firstElementChild,
    next ? next.previousElementSibling : target.lastElementChild,
  ].filter((element) => element !== null)
}

function pathOf(element: Element): readonly Element[] {
  const { parentElement } = element
  return parentElement === null ? [element] : [element, ...pathOf(parentElement)]
}
