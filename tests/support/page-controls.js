/* Controls of a page, for checks of the page walk. Evaluated inside of the page by the debugger. */
(() => {
  const controls = [
    'a[href]',
    'button',
    'input:not([type=hidden])',
    'select',
    'textarea',
    'summary',
    '[contenteditable=true]',
    '[tabindex="0"]',
    ...['button', 'link', 'switch', 'checkbox', 'radio', 'tab', 'combobox', 'slider'].map(role => `[role=${role}]`),
  ].join();
  /* Widgets with one stop of the Tab key; arrow keys move inside of them (ARIA Authoring Practices Guide). */
  const widgets = ['tablist', 'radiogroup', 'toolbar', 'grid', 'listbox', 'tree', 'menubar', 'menu']
    .map(role => `[role=${role}]`)
    .join();
  const layers = '[role=dialog], [role=alertdialog], [role=menu]';

  const isVisible = element => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true });
  };
  const isEnabled = element => !element.matches(':disabled, [aria-disabled=true]') && !element.closest('[inert]');
  const describe = element => element.cloneNode(true).outerHTML.slice(0, 200);
  const nameOf = element => (element.getAttribute('aria-label') ?? element.textContent ?? '').trim();

  /* Focus events of a round: elements that the Tab key reached, and those of them that do not show the focus. */
  const reached = new Set();
  const unmarked = new Set();
  let first;
  let isRound = false;
  const hasMark = element => {
    for (let it = element; it && it !== document.body; it = it.parentElement) {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(it);
      if (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) return true;
      if (it === element && boxShadow !== 'none') return true;
    }
    return element.closest('.cm-editor') !== null;
  };
  document.addEventListener('focusin', ({ target }) => {
    if (target === first) isRound = true;
    first ??= target;
    reached.add(target);
    // A group with a roving tabindex has passed the focus on to one of its items.
    if (document.activeElement === target && !hasMark(target)) unmarked.add(target);
  });

  const isReached = element => {
    if (reached.has(element)) return true;
    const widget = element.closest(widgets);
    if (widget && [...reached].some(it => widget.contains(it))) return true;
    if (element.type !== 'radio') return false;
    return [...reached].some(it => it.type === 'radio' && it.name === element.name && it.form === element.form);
  };
  const reactPropsOf = element => element[Object.keys(element).find(key => key.startsWith('__reactProps$'))];
  const focusable = 'a[href], button, input, select, textarea, summary, label, [tabindex], [contenteditable]';

  /* Buttons outside of layers, those of one row for all rows of a table. */
  const listButtons = scope => {
    const rows = new Map();
    const isRepeated = button => {
      const row = button.closest('tbody tr');
      const table = row?.closest('table');
      if (row && !rows.has(table)) rows.set(table, row);
      return row !== null && rows.get(table) !== row;
    };
    return [...document.querySelectorAll(`${scope} button[type=button]:not([role])`)].filter(
      it => isVisible(it) && isEnabled(it) && !it.closest(layers) && !isRepeated(it),
    );
  };
  /* Views of an object share its head: the heading tells its buttons from those of other objects. */
  const keyOf = button => {
    const heading = button.closest('main header') && document.querySelector('h1');
    return heading ? `${nameOf(button)} of ${nameOf(heading)}` : nameOf(button);
  };
  const focusOrigin = button => {
    globalThis.pageControls.origin = button;
    button.focus();
  };

  globalThis.pageControls = {
    begin() {
      reached.clear();
      unmarked.clear();
      reached.add(document.activeElement);
    },
    /* Begins a round of the Tab key; it ends where it began. */
    beginRound() {
      first = undefined;
      isRound = false;
    },
    isRound: () => isRound,
    listUnreached: (root = document) =>
      [...root.querySelectorAll(controls)].filter(it => isVisible(it) && isEnabled(it) && !isReached(it)).map(describe),
    listUnmarked: () => [...unmarked].filter(it => it.isConnected).map(describe),
    /* Elements with a handler of clicks that no key reaches. */
    listMouseOnly: () =>
      [...document.body.querySelectorAll('*')]
        .filter(it => reactPropsOf(it)?.onClick && !it.closest(focusable) && isVisible(it))
        .map(describe),
    openDetails() {
      const closed = [...document.querySelectorAll('main details:not([open])')].filter(isVisible);
      for (const it of closed) it.open = true;
      return closed.length;
    },
    layer: () => [...document.querySelectorAll(layers)].at(-1),
    /* The button that the last layer was opened with. */
    origin: undefined,
    /* Focuses the next button of the page that opens something or acts; returns its name. */
    focusNext(scope, done) {
      const next = listButtons(scope).find(it => !done.includes(keyOf(it)));
      if (!next) return undefined;
      focusOrigin(next);
      return { name: nameOf(next), key: keyOf(next), isMenu: next.getAttribute('aria-haspopup') === 'menu' };
    },
    focusNamed: (scope, name) => focusOrigin(listButtons(scope).find(it => nameOf(it) === name)),
    listItems: () =>
      [...globalThis.pageControls.layer().querySelectorAll('[role=menuitem]')].filter(isEnabled).map(nameOf),
    focusItem: name =>
      [...globalThis.pageControls.layer().querySelectorAll('[role=menuitem]')].find(it => nameOf(it) === name).focus(),
  };
})();
