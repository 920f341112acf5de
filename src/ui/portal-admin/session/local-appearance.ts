import { useState } from 'react';
import { applyAppearance, type Density, readStoredTheme, type Theme } from '../../kit/theme.ts';

const collapsedName = 'gw-admin-menu';

/** Theme, density and menu of this browser: the portal stores no preferences of its users. */
export function useLocalAppearance() {
  const [state, setState] = useState(() => ({
    theme: readStoredTheme(),
    density: (document.documentElement.dataset.density === 'compact' ? 'compact' : 'comfortable') as Density,
    isCollapsed: localStorage.getItem(collapsedName) === 'collapsed',
  }));
  const change = (some: { theme?: Theme; density?: Density }) => {
    const next = { ...state, ...some };
    setState(next);
    applyAppearance(next.theme, next.density);
  };
  const toggleMenu = () => {
    const isCollapsed = !state.isCollapsed;
    setState({ ...state, isCollapsed });
    localStorage.setItem(collapsedName, isCollapsed ? 'collapsed' : '');
  };
  return { ...state, change, toggleMenu };
}
