import {
  Boxes,
  ChartSpline,
  House,
  KeyRound,
  type LucideIcon,
  ScrollText,
  Send,
  TextSearch,
  UsersRound,
  Webhook,
} from 'lucide-react';
import { texts } from '../../texts/texts.ts';

export interface NavigationEntry {
  readonly to: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Absent: every user sees it. */
  readonly permission?: string;
  /** Second key of the shortcut after `g`. */
  readonly key?: string;
}

export interface NavigationGroup {
  /** Absent for entries above the groups. */
  readonly label?: string;
  readonly entries: readonly NavigationEntry[];
}

const { groups, pages } = texts.shell;

/** Navigation by groups; entries without their permission are absent. */
export const navigation: readonly NavigationGroup[] = [
  { entries: [{ to: '/', label: pages.home, icon: House, key: 'h' }] },
  {
    label: groups.apis,
    entries: [{ to: '/apis', label: pages.apis, icon: Boxes, permission: 'apis', key: 'a' }],
  },
  {
    label: groups.access,
    entries: [
      { to: '/policies', label: pages.policies, icon: ScrollText, permission: 'policies', key: 'p' },
      { to: '/keys', label: pages.keys, icon: KeyRound, permission: 'keys', key: 'k' },
    ],
  },
  {
    label: groups.events,
    entries: [
      { to: '/webhooks', label: pages.webhooks, icon: Webhook, permission: 'hooks', key: 'w' },
      { to: '/deliveries', label: pages.deliveries, icon: Send, permission: 'hooks' },
    ],
  },
  {
    label: groups.monitor,
    entries: [
      { to: '/analytics', label: pages.analytics, icon: ChartSpline, permission: 'analytics', key: 'y' },
      { to: '/logs', label: pages.logs, icon: TextSearch, permission: 'log', key: 'l' },
    ],
  },
  {
    label: groups.people,
    entries: [{ to: '/users', label: pages.users, icon: UsersRound, permission: 'users', key: 'u' }],
  },
];

/** Page of an object that the search found, by its kind; kinds without a page are not offered. */
export const objectPages: Readonly<Record<string, (id: string) => string>> = {
  apis: id => `/apis/${encodeURIComponent(id)}`,
  policies: id => `/policies/${encodeURIComponent(id)}`,
  webhooks: id => `/webhooks/${encodeURIComponent(id)}`,
  keys: id => `/keys/${encodeURIComponent(id)}`,
};
