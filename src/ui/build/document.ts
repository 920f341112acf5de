import type { Rolldown } from 'vite';
import { landingPath } from '#operations/landing/layout.ts';
import { webAppAssetPath } from '#operations/web-app/routes.ts';

type Output = Rolldown.RolldownOutput['output'];

/** Titles of documents before the app has set its own, by app. */
const titles = { dashboard: 'Gatewright', 'portal-admin': 'Portal admin' } as const;
type AppName = keyof typeof titles;
export const appNames = Object.keys(titles) as readonly AppName[];

/** Document of an app: links to its files, no data, no inline script or style; `{nonce}` is replaced per page view. */
export function renderDocument(name: AppName, output: Output): string {
  const entry = findEntry(name, output);
  const styles = output.flatMap(({ fileName }) => (fileName.endsWith('.css') ? [fileName] : []));
  const links = [
    ...styles.map(file => `<link rel="stylesheet" href="${webAppAssetPath}${file}">`),
    ...listStaticImports(entry, output).map(file => `<link rel="modulepreload" href="${webAppAssetPath}${file}">`),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><meta name="color-scheme" content="light dark"><title>${titles[name]}</title>
<link rel="icon" href="data:,"><script src="${webAppAssetPath}${findEntry('theme', output).fileName}"></script>
${links.join('\n')}
<script type="module" nonce="{nonce}" src="${webAppAssetPath}${entry.fileName}"></script></head>
<body><div id="app"></div><noscript><p>This app needs JavaScript. The
<a href="${landingPath}">start page</a> and the <a href="/docs">reference</a> work without.</p></noscript></body></html>
`;
}

function findEntry(name: string, output: Output): Rolldown.OutputChunk {
  const found = output.find(it => it.type === 'chunk' && it.isEntry && it.name === name);
  if (found?.type !== 'chunk') throw new Error(`the build has no entry ${name}`);
  return found;
}

/** Chunks that the entry needs before it runs: fetched in parallel with it. */
function listStaticImports(entry: Rolldown.OutputChunk, output: Output, seen = new Set<string>()): readonly string[] {
  for (const file of entry.imports) {
    const chunk = output.find(it => it.fileName === file);
    if (seen.has(file) || chunk?.type !== 'chunk') continue;
    seen.add(file);
    listStaticImports(chunk, output, seen);
  }
  return [...seen];
}
