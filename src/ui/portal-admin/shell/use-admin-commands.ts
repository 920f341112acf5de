import { useNavigate } from '@tanstack/react-router';
import type { PaletteCommand } from '../../kit/shell/command-palette.tsx';
import { sharedTexts } from '../../texts/shared-texts.ts';
import { adminNavigation } from './admin-navigation.ts';

/** Commands of the palette: the pages. */
export function useAdminCommands(text: string): { commands: readonly PaletteCommand[]; isSearching: boolean } {
  const navigate = useNavigate();
  const wanted = text.trim().toLowerCase();
  const commands = adminNavigation
    .flatMap(({ entries }) => entries)
    .filter(({ label }) => label.toLowerCase().includes(wanted))
    .map(({ to, label }) => ({
      id: to,
      label: sharedTexts.shell.goTo(label),
      detail: '',
      run: () => void navigate({ to }),
    }));
  return { commands, isSearching: false };
}
