import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { adminShellRoute } from './admin-root.tsx';

/** Routes of what the site shows and sends: pages, posts, themes, mails. */

const pages = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/pages',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./pages/content-list-page.tsx'), 'ContentListPage'),
});

const newPage = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/pages/new',
  component: lazyRouteComponent(() => import('./pages/content-page.tsx'), 'NewContentPage'),
});

const page = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/pages/$pageId',
  component: lazyRouteComponent(() => import('./pages/content-page.tsx'), 'ContentPage'),
});

const posts = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/posts',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./posts/post-list-page.tsx'), 'PostListPage'),
});

const newPost = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/posts/new',
  component: lazyRouteComponent(() => import('./posts/post-page.tsx'), 'NewBlogPostPage'),
});

const post = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/posts/$postId',
  component: lazyRouteComponent(() => import('./posts/post-page.tsx'), 'BlogPostPage'),
});

const categories = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/categories',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./labels/category-list-page.tsx'), 'CategoryListPage'),
});

const tags = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/tags',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./labels/tag-list-page.tsx'), 'TagListPage'),
});

const menus = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/menus',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./menus/menu-list-page.tsx'), 'MenuListPage'),
});

const newMenu = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/menus/new',
  component: lazyRouteComponent(() => import('./menus/menu-page.tsx'), 'NewMenuPage'),
});

const menu = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/menus/$menuId',
  component: lazyRouteComponent(() => import('./menus/menu-page.tsx'), 'MenuPage'),
});

const themes = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/themes',
  component: lazyRouteComponent(() => import('./themes/theme-list-page.tsx'), 'ThemeListPage'),
});

const mails = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/emails',
  component: lazyRouteComponent(() => import('./mails/mail-list-page.tsx'), 'MailListPage'),
});

const outbox = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/emails/outbox',
  validateSearch: readListSearch('state'),
  component: lazyRouteComponent(() => import('./mails/outbox-page.tsx'), 'OutboxPage'),
});

const mail = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/emails/$mailName',
  component: lazyRouteComponent(() => import('./mails/mail-page.tsx'), 'MailPage'),
});

export const contentRoutes = [
  ...([pages, newPage, page, posts, newPost, post, categories, tags] as const),
  ...([menus, newMenu, menu, themes, mails, outbox, mail] as const),
] as const;
