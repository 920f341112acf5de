import { Link } from '@tanstack/react-router';
import { sharedTexts } from '../../texts/shared-texts.ts';
import type { NavigationEntry, NavigationGroup } from './navigation-group.ts';

interface BreadcrumbProps {
  readonly groups: readonly NavigationGroup[];
  readonly path: string;
}

const isBelow = (path: string, { to }: NavigationEntry) => path.startsWith(`${to}/`);

/** Entry with the longest path above a page; none for a page of the navigation, and for those below the first page. */
function findList(groups: readonly NavigationGroup[], path: string) {
  const all = groups
    .filter(({ label }) => label !== undefined)
    .flatMap(({ label, entries }) => entries.map(entry => ({ label, entry })));
  const isFirstPage = (it: NavigationEntry) => all.some(({ entry }) => isBelow(entry.to, it));
  return all.some(({ entry }) => entry.to === path)
    ? undefined
    : all
        .filter(({ entry }) => isBelow(path, entry) && !isFirstPage(entry))
        .toSorted((a, b) => b.entry.to.length - a.entry.to.length)[0];
}

/** Link from the page of an object to its list, which is an entry of the navigation. */
export function Breadcrumb({ groups, path }: BreadcrumbProps) {
  const found = findList(groups, path);
  if (!found) return null;
  return (
    <nav aria-label={sharedTexts.shell.breadcrumb} className="shrink-0 text-small text-dim max-[900px]:hidden">
      <ol className="flex items-center gap-1.5">
        <li className="after:ml-1.5 after:content-['/']">{found.label}</li>
        <li>
          <Link to={found.entry.to} className="text-ink hover:underline">
            {found.entry.label}
          </Link>
        </li>
      </ol>
    </nav>
  );
}
