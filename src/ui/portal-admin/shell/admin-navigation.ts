import {
  AppWindow,
  Building,
  Building2,
  FileText,
  FolderOpen,
  Gauge,
  History,
  Inbox,
  KeyRound,
  KeySquare,
  LayoutDashboard,
  LibraryBig,
  ListPlus,
  LogIn,
  Mail,
  MailPlus,
  Newspaper,
  Package,
  Palette,
  PanelTop,
  PlugZap,
  ScrollText,
  Settings,
  ShieldCheck,
  SlidersHorizontal,
  Tag,
  Ticket,
  UsersRound,
  Webhook,
} from 'lucide-react';
import type { NavigationGroup } from '../../kit/shell/navigation-group.ts';
import { adminTexts } from '../../texts/admin-texts.ts';

const { groups, pages } = adminTexts.shell;

/** Navigation of the admin app; every administrator has the same rights. */
export const adminNavigation: readonly NavigationGroup[] = [
  {
    label: groups.start,
    entries: [{ to: '/admin', label: pages.overview, icon: LayoutDashboard, key: 'o' }],
  },
  {
    label: groups.offer,
    entries: [
      { to: '/admin/api_products', label: pages.products, icon: Package, key: 'p' },
      { to: '/admin/plans', label: pages.plans, icon: Gauge },
      { to: '/admin/catalogues', label: pages.catalogues, icon: LibraryBig },
      { to: '/admin/tags', label: pages.tags, icon: Tag },
    ],
  },
  {
    label: groups.demand,
    entries: [
      { to: '/admin/access_requests', label: pages.requests, icon: Inbox, key: 'r' },
      { to: '/admin/apps', label: pages.apps, icon: AppWindow, key: 'a' },
      { to: '/admin/credentials', label: pages.credentials, icon: KeyRound },
      { to: '/admin/certificates', label: pages.certificates, icon: ShieldCheck },
    ],
  },
  {
    label: groups.people,
    entries: [
      { to: '/admin/users', label: pages.users, icon: UsersRound, key: 'u' },
      { to: '/admin/organisations', label: pages.organisations, icon: Building2 },
      { to: '/admin/organisation_requests', label: pages.organisationRequests, icon: Building },
      { to: '/admin/invitations', label: pages.invitations, icon: MailPlus },
      { to: '/admin/invite_codes', label: pages.inviteCodes, icon: Ticket },
    ],
  },
  {
    label: groups.content,
    entries: [
      { to: '/admin/pages', label: pages.pages, icon: FileText },
      { to: '/admin/posts', label: pages.posts, icon: Newspaper },
      { to: '/admin/categories', label: pages.categories, icon: FolderOpen },
      { to: '/admin/menus', label: pages.menus, icon: PanelTop },
      { to: '/admin/themes', label: pages.themes, icon: Palette },
      { to: '/admin/emails', label: pages.mails, icon: Mail },
      { to: '/admin/terms', label: pages.terms, icon: ScrollText },
    ],
  },
  {
    label: groups.connections,
    entries: [
      { to: '/admin/providers', label: pages.providers, icon: PlugZap },
      { to: '/admin/oauth2-0-providers', label: pages.oauthProviders, icon: KeySquare },
      { to: '/admin/webhooks', label: pages.webhooks, icon: Webhook },
      { to: '/admin/sso_profiles', label: pages.signOn, icon: LogIn },
    ],
  },
  {
    label: groups.settings,
    entries: [
      { to: '/admin/general', label: pages.general, icon: Settings },
      { to: '/admin/custom_attributes', label: pages.attributes, icon: ListPlus },
      { to: '/admin/configuration', label: pages.configuration, icon: SlidersHorizontal },
      { to: '/admin/audit', label: pages.audit, icon: History },
    ],
  },
];
