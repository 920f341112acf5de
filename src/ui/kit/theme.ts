export type Theme = 'system' | 'light' | 'dark' | 'contrast';
export type Density = 'comfortable' | 'compact';

/** Applies theme and density, and keeps them for the first paint of the next page view. */
export function applyAppearance(theme: Theme, density: Density): void {
  const root = document.documentElement;
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  if (density === 'compact') root.dataset.density = 'compact';
  else delete root.dataset.density;
  localStorage.setItem('gw-theme', theme);
  localStorage.setItem('gw-density', density);
}

export const readStoredTheme = (): Theme => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system';

/** True where the page is dark: by the chosen theme, or by the system. */
export const isDark = (): boolean => {
  const theme = readStoredTheme();
  return theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
};
