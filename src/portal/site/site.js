/* Enhancement of pages that work without it: copy buttons, the search shortcut, the menu. */

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    const text = button.textContent;
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = text;
    }, 2000);
  });
}

const isTyping = target => target instanceof Element && target.closest('input, textarea, select') !== null;

document.addEventListener('keydown', event => {
  if (event.key === 'Escape') for (const menu of document.querySelectorAll('details.menu[open]')) menu.open = false;
  if (event.key !== '/' || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.querySelector('[data-page-search]')?.focus();
});
document.addEventListener('click', event => {
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (!menu.contains(event.target)) menu.open = false;
});
