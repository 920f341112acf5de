import { useRef } from 'react';

/** The menu has gone with its item: its button stays. */
function findOrigin(element: Element | null): HTMLElement | undefined {
  const menu = element?.closest('[role="menu"]');
  const button = menu && document.getElementById(menu.getAttribute('aria-labelledby') ?? '');
  if (button) return button;
  return element instanceof HTMLElement && element !== document.body ? element : undefined;
}

/**
 * Focus return of a layer that state opens: Radix returns the focus to its own trigger only. The element that had the
 * focus at the opening gets it back; where that has gone, the heading of the page.
 */
export function useFocusReturn(isOpen: boolean): (event: Event) => void {
  const state = useRef<{ isOpen: boolean; origin: HTMLElement | undefined }>({ isOpen: false, origin: undefined });
  // While it renders: a field of the layer may take the focus before the first effect.
  if (isOpen && !state.current.isOpen) state.current.origin = findOrigin(document.activeElement);
  state.current.isOpen = isOpen;
  return event => {
    event.preventDefault();
    const { origin } = state.current;
    origin?.focus();
    if (!origin || document.activeElement !== origin) document.querySelector('h1')?.focus({ preventScroll: true });
  };
}
