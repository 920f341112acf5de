/** Moves the focus to the first field with an error inside of an element, once the errors are drawn. */
export const focusFirstFault = (element: HTMLElement): void =>
  void requestAnimationFrame(() => element.querySelector<HTMLElement>('[aria-invalid]')?.focus());
