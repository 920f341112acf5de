/** First segments of paths that the listener of the portal answers itself. */
const builtInSegments = new Set([
  'admin',
  'assets',
  'auth',
  'blog',
  'docs',
  'guides',
  'hello',
  'live',
  'login',
  'mcp',
  'pages',
  'portal',
  'portal-api',
  'ready',
  'search',
  'site',
  'sso',
  'system',
  'tib',
  'ui',
]);
const builtInFiles = new Set(['favicon.ico', 'feed.xml', 'llms.txt', 'openapi.json', 'robots.txt', 'sitemap.xml']);

/** True for a path of the listener: a page with it would never be shown. The page `/` has the texts of the home page. */
export function isBuiltInPath(path: string): boolean {
  const [, first = '', ...rest] = path.toLowerCase().split('/');
  return builtInSegments.has(first) || (builtInFiles.has(first) && rest.length === 0);
}
