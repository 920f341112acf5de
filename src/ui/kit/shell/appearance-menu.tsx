import { Moon } from 'lucide-react';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { IconButton } from '../button.tsx';
import { Menu } from '../menu.tsx';
import type { Density, Theme } from '../theme.ts';

const themes: readonly Theme[] = ['system', 'light', 'dark', 'contrast'];
const densities: readonly Density[] = ['comfortable', 'compact'];

export interface AppearanceMenuProps {
  readonly theme: Theme | undefined;
  readonly density: Density | undefined;
  onChange(some: { theme: Theme } | { density: Density }): void;
}

/** Choice of theme and density. */
export const AppearanceMenu = ({ theme: current, density: currentDensity, onChange }: AppearanceMenuProps) => (
  <Menu
    trigger={<IconButton icon={Moon} label={sharedTexts.shell.theme} />}
    items={[
      ...themes.map(theme => ({
        label: sharedTexts.shell.themes[theme],
        isChecked: current === theme,
        onSelect: () => onChange({ theme }),
      })),
      'line' as const,
      ...densities.map(density => ({
        label: sharedTexts.shell.densities[density],
        isChecked: currentDensity === density,
        onSelect: () => onChange({ density }),
      })),
    ]}
  />
);
