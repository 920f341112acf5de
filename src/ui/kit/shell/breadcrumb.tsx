import { Link } from '@tanstack/react-router';
import { sharedTexts } from '../../texts/shared-texts.ts';
import type { NavigationGroup } from './navigation-group.ts';

interface BreadcrumbProps {
  readonly groups: readonly NavigationGroup[];
  readonly path: string;
}

/** Link from the page of an object to its list, which is an entry of the navigation. */
export function Breadcrumb({ groups, path }: BreadcrumbProps) {
  const found = groups
    .filter(({ label }) => label !== undefined)
    .flatMap(({ label, entries }) => entries.map(entry => ({ label, entry })))
    .find(({ entry }) => path.startsWith(`${entry.to}/`));
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
