/** Theme before the first paint: a blocking script of its own, so that a page does not flash in the other theme. */
const root = document.documentElement;
const storedTheme = localStorage.getItem('gw-theme');
if (storedTheme && /^(light|dark|contrast)$/.test(storedTheme)) root.dataset.theme = storedTheme;
if (localStorage.getItem('gw-density') === 'compact') root.dataset.density = 'compact';
