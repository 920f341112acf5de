import type { PageList } from './dashboard-pages.ts';

/** Documents of the portal that everyone may open; names with a colon stand for objects of the test. */
export const publicSitePages: PageList = {
  '/': /^Build with/,
  '/about-us': /^About us$/,
  '/portal/catalogue-products': /^Products$/,
  '/portal/catalogue-products/:product': /^Orders$/,
  '/portal/catalogue-products/:product/guides': /^Orders$/,
  '/portal/catalogue-products/:product/guides/:guide': /^Orders$/,
  '/portal/catalogue-products/:product/changelog': /./,
  '/portal/catalogue-products/:product/docs': /./,
  '/portal/catalogue-products/:product/:api/docs': /./,
  '/portal/catalogue-products/:product/:api/docs/:operation': /./,
  '/portal/catalogue-products/:product/graph/docs': /./,
  '/blog': /^Blog$/,
  '/blog/category/Releases': /^Releases$/,
  '/blog/:year/:month/:day/new-orders': /^New orders$/,
  '/search?q=orders': /^Search$/,
  '/portal/terms': /^Terms of use$/,
  '/portal/terms/:version': /^Terms of use$/,
  '/no/such/page': /^Page not found$/,
};

/** Documents of the sign-in and sign-up. */
export const accountSitePages: PageList = {
  '/auth/password/login': /^Sign in$/,
  '/auth/password/register': /./,
  '/auth/password/register?token=x': /./,
  '/auth/password/new': /./,
  '/auth/password/edit?token=x': /^This link does not work$/,
  '/auth/verify?token=x': /./,
  '/auth/address?token=x': /^This link does not work$/,
  '/tib/auth/company/ADProvider': /./,
  '/sso?nonce=x': /./,
  '/portal/private/api/try/sign-in/callback': /^Sign-in failed$/,
};

/** Documents of a developer. */
export const privateSitePages: PageList = {
  '/portal/private/apps': /^My apps$/,
  '/portal/private/apps/new': /./,
  '/portal/private/apps/:app': /./,
  '/portal/private/apps/:app/edit': /./,
  '/portal/private/apps/:app/delete': /./,
  '/portal/private/apps/:app/certificates': /./,
  '/portal/private/cart/provision': /^Request access$/,
  '/portal/private/cart/provision?product=:product&plan=:plan&catalogue=1': /^Request access$/,
  '/portal/catalogue-products/:product/my-access': /^Orders$/,
  '/portal/catalogue-products?view=list': /^Products$/,
  '/portal/private/analytics': /^Usage$/,
  '/portal/private/profile': /./,
  '/portal/private/profile/delete': /^Delete account$/,
  '/portal/private/users': /./,
  '/portal/private/organisation': /./,
  '/portal/private/notifications': /./,
};

/** Documents of an administrator of an organisation. */
export const organisationSitePages: PageList = {
  '/portal/private/users/invite': /./,
  '/portal/private/users/:member': /./,
};

/** Routes without a document of their own: files, feeds, JSON and redirects. */
export const siteRoutesWithoutPage: readonly string[] = [
  '/blog/:year/:month/:day/:path/image',
  '/portal/private/posts/:post/image',
  '/portal',
  '/portal/private/dashboard',
  '/portal/catalogue-products/:path/image',
  '/portal/catalogue-products/:path/changelog.xml',
  '/portal/catalogue-products/:path/:api/docs/download',
  '/tib/auth/:profile/:provider/callback',
  '/tib/auth/:profile/:provider/metadata',
  ...['me', 'apps', 'apps/:id', 'requests', 'credentials', 'members', 'usage', 'notifications', 'search', 'export'].map(
    name => `/portal/private/api/${name}`,
  ),
  '/robots.txt',
  '/sitemap.xml',
  '/feed.xml',
  '/llms.txt',
];
