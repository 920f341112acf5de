import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { callServer } from '../../kit/calls.ts';
import type { PaletteCommand } from '../../kit/shell/command-palette.tsx';
import { filterNavigation } from '../../kit/shell/navigation-group.ts';
import { useDebounced } from '../../kit/use-debounced.ts';
import { texts } from '../../texts/texts.ts';
import { isPossibleKey } from '../keys/possible-key.ts';
import { usePreferences } from '../session/preferences.ts';
import { canUse, useSession } from '../session/session.ts';
import { navigation, objectPages } from './navigation.ts';
import { openTab, toPortalAdminUrl } from './portal-links.ts';

const minSearchChars = 2;
const includesText = (label: string, text: string) => label.toLowerCase().includes(text.trim().toLowerCase());

/** Objects that the server finds by a text. */
const useSearch = (q: string, enabled: boolean) =>
  useQuery({
    queryKey: ['GET /api/search', q],
    queryFn: async ({ signal }) =>
      isPossibleKey(q)
        ? (await callServer('POST /api/search', { body: { q } }, { signal })).value
        : (await callServer('GET /api/search', { query: { q } }, { signal })).value,
    enabled,
    placeholderData: keepPreviousData,
  });

/** Commands of the palette for a text: pages, themes, and objects that the server finds. */
export function useCommands(text: string): { commands: readonly PaletteCommand[]; isSearching: boolean } {
  const session = useSession();
  const navigate = useNavigate();
  const { change } = usePreferences();
  const wanted = useDebounced(text.trim());
  const isLong = wanted.length >= minSearchChars;
  const found = useSearch(wanted, isLong);
  const pages = filterNavigation(navigation, permission => canUse(session, permission))
    .flatMap(({ entries }) => entries)
    .map(({ to, label }) => ({ id: to, label: texts.shell.goTo(label), detail: '', run: () => void navigate({ to }) }));
  const appearances = (['system', 'light', 'dark'] as const).map(theme => ({
    id: `theme-${theme}`,
    label: texts.shell.themes[theme],
    detail: texts.shell.theme,
    run: () => change({ theme }),
  }));
  const portal = session.portal_url;
  const openAdmin = () => openTab(toPortalAdminUrl(portal));
  const elsewhere = portal
    ? [
        { id: 'portal', label: texts.shell.goTo(texts.shell.portal), detail: '', run: () => openTab(portal) },
        ...(canUse(session, 'portal')
          ? [{ id: 'portal-admin', label: texts.shell.goTo(texts.shell.portalAdmin), detail: '', run: openAdmin }]
          : []),
      ]
    : [];
  const own = [...pages, ...elsewhere, ...appearances].filter(({ label }) => includesText(label, text));
  const objects = (isLong ? (found.data?.results ?? []) : []).flatMap(({ kind, items }) =>
    items.flatMap(({ id, name, detail }) => {
      const toPage = objectPages[kind];
      const open = () => void navigate({ to: toPage?.(id, detail) ?? '/' });
      // A key without an alias has no name: its hash stands for it.
      const command = { id: `${kind}-${id}`, label: name || id, detail: texts.shell.kinds[kind] ?? kind, run: open };
      return toPage ? [command] : [];
    }),
  );
  return { commands: [...objects, ...own], isSearching: isLong && found.isFetching };
}
