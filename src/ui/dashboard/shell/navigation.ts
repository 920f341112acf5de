import {
  Activity,
  AppWindow,
  ArchiveRestore,
  BadgeCheck,
  BookOpen,
  Bot,
  Boxes,
  ChartSpline,
  Group,
  HeartPulse,
  History,
  House,
  KeyRound,
  LayoutTemplate,
  LogIn,
  ScrollText,
  Send,
  Settings,
  Share2,
  Star,
  TextSearch,
  UsersRound,
  Webhook,
} from 'lucide-react';
import type { NavigationGroup } from '../../kit/shell/navigation-group.ts';
import { texts } from '../../texts/texts.ts';
import { revisedKinds } from '../history/revised-kinds.ts';
import { encodeId } from '../reserved-ids.ts';

const { groups, pages } = texts.shell;

/** One of these permissions reads deleted objects. */
const listRestorable = () => Object.values(revisedKinds).map(({ permission }) => permission);

/** Navigation by groups; entries without their permission are absent. */
export const navigation: readonly NavigationGroup[] = [
  { entries: [{ to: '/', label: pages.home, icon: House, key: 'h' }] },
  {
    label: groups.apis,
    entries: [
      { to: '/apis', label: pages.apis, icon: Boxes, permission: 'apis', key: 'a' },
      { to: '/data-graphs', label: pages.graphql, icon: Share2, permission: 'apis' },
      { to: '/mcp-proxies', label: pages.mcp, icon: Bot, permission: 'mcp', key: 'm' },
      { to: '/templates', label: pages.templates, icon: LayoutTemplate, permission: 'api_assets' },
      { to: '/examples', label: pages.examples, icon: BookOpen, permission: 'apis' },
    ],
  },
  {
    label: groups.access,
    entries: [
      { to: '/policies', label: pages.policies, icon: ScrollText, permission: 'policies', key: 'p' },
      { to: '/keys', label: pages.keys, icon: KeyRound, permission: 'keys', key: 'k' },
      { to: '/oauth-clients', label: pages.oauthClients, icon: AppWindow, permission: 'oauth' },
      { to: '/certificates', label: pages.certificates, icon: BadgeCheck, permission: 'certs', key: 'c' },
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
      { to: '/uptime', label: pages.uptime, icon: HeartPulse, permission: 'analytics' },
    ],
  },
  {
    label: groups.people,
    entries: [
      { to: '/users', label: pages.users, icon: UsersRound, permission: 'users', key: 'u' },
      { to: '/user-groups', label: pages.groups, icon: Group, permission: 'user_groups' },
      { to: '/sign-on', label: pages.signOn, icon: LogIn, permission: 'idm' },
    ],
  },
  {
    label: groups.system,
    entries: [
      { to: '/system', label: pages.status, icon: Activity, permission: 'system', key: 's' },
      { to: '/audit', label: pages.audit, icon: History, permission: 'audit_logs' },
      { to: '/deleted', label: pages.deleted, icon: ArchiveRestore, permissions: listRestorable() },
      { to: '/settings', label: pages.settings, icon: Settings, permission: 'admin' },
    ],
  },
];

/** Page of an object that the search found, by its kind; kinds without a page are not offered. */
export const objectPages: Readonly<Record<string, (id: string, detail?: string) => string>> = {
  apis: id => `/apis/${encodeId(id)}`,
  mcps: id => `/mcp-proxies/${encodeId(id)}`,
  policies: id => `/policies/${encodeId(id)}`,
  webhooks: id => `/webhooks/${encodeId(id)}`,
  certificates: id => `/certificates/${encodeId(id)}`,
  users: id => `/users/${encodeId(id)}`,
  user_groups: id => `/user-groups/${encodeId(id)}`,
  keys: id => `/keys/${encodeId(id)}`,
  templates: id => `/templates/${encodeId(id)}`,
  profiles: id => `/sign-on/${encodeId(id)}`,
  identity_profiles: id => `/sign-on/${encodeId(id)}`,
  /** Its detail is the API. */
  oauth_clients: (id, apiId = '') => `/oauth-clients/${encodeId(apiId)}/${encodeId(id)}`,
};

/** Favourites of a user as a group of the navigation; kinds without a page are absent. */
export const toFavouriteGroup = (
  favourites: readonly { readonly kind: string; readonly id: string; readonly name: string }[],
): NavigationGroup => ({
  label: texts.shell.favourites,
  entries: favourites.flatMap(({ kind, id, name }) => {
    const to = objectPages[kind]?.(id);
    return to === undefined ? [] : [{ to, label: name || id, icon: Star }];
  }),
});
