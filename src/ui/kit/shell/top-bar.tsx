import { Menu as MenuIcon, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { Button, IconButton } from '../button.tsx';

export interface TopBarProps {
  onNavigation(): void;
  onPalette(): void;
  /** At its start. */
  readonly breadcrumb: ReactNode;
  /** Menus at its end. */
  readonly children: ReactNode;
}

export const TopBar = ({ onNavigation, onPalette, breadcrumb, children }: TopBarProps) => (
  <header className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-surface px-4">
    <IconButton
      icon={MenuIcon}
      label={sharedTexts.shell.openNavigation}
      onClick={onNavigation}
      className="min-[901px]:hidden!"
    />
    {breadcrumb}
    <Button
      icon={Search}
      onClick={onPalette}
      className="mx-auto w-full max-w-96 min-w-0 justify-start! font-normal! text-dim!"
    >
      <span className="min-w-0 grow truncate text-left">{sharedTexts.shell.search}</span>
      <kbd className="font-mono text-small max-[900px]:hidden">{sharedTexts.shell.searchHint}</kbd>
    </Button>
    {children}
  </header>
);
