import { Link } from '@tanstack/react-router';
import { BookOpen, Boxes, Compass, FileInput, PencilRuler } from 'lucide-react';
import { Notice } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';

const own = texts.apis;
const card =
  'flex items-start gap-3 rounded-card border border-line bg-surface p-4 text-left hover:border-accent hover:bg-hover';

const starts = [
  { to: '/apis/new', icon: PencilRuler, ...own.starts.design },
  { to: '/apis/import', icon: FileInput, ...own.starts.import },
  { to: '/examples', icon: BookOpen, ...own.starts.example },
  { to: '/welcome', icon: Compass, ...own.starts.guided },
] as const;

/** The list without APIs: what an API is, and how to get the first one. */
export function StartCards() {
  const canWrite = usePermission('apis:write');
  return (
    <Notice icon={Boxes} title={own.emptyTitle}>
      <p>{own.emptyAbout}</p>
      {canWrite && (
        <ul className="mt-6 grid w-full gap-3 text-ink min-[600px]:grid-cols-2">
          {starts.map(({ to, icon: Icon, title, about }) => (
            <li key={to} className="contents">
              <Link to={to} className={card}>
                <Icon size={20} strokeWidth={1.5} className="mt-0.5 shrink-0 text-accent-ink" aria-hidden />
                <span className="flex flex-col">
                  <span className="font-medium">{title}</span>
                  <span className="text-small text-dim">{about}</span>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Notice>
  );
}
