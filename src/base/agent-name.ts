import { Lru } from './lru.ts';

/** Browsers by the product that only they name, the more specific first: all of them name Mozilla and Safari. */
const browsers: readonly (readonly [product: string, name: string])[] = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
];

const maxNameCharacters = 40;
/** Product token (RFC 9110, 10.1.5) at the start. */
const product = new RegExp(`^[\\w!#$%&'*+.^\`|~-]{1,${maxNameCharacters}}`);
/** Crawlers that pretend to be a browser: `Mozilla/5.0 (compatible; Example/1.0; …)`. */
const crawler = new RegExp(`\\(compatible; ([\\w.-]{1,${maxNameCharacters}})`);

function parseAgentName(userAgent: string): string {
  if (!userAgent.startsWith('Mozilla/')) return product.exec(userAgent)?.[0] ?? 'other';
  const bot = crawler.exec(userAgent)?.[1];
  return bot ?? browsers.find(([token]) => userAgent.includes(`${token}/`))?.[1] ?? 'Mozilla';
}

/** Operating systems by a part of the User-Agent, the more specific first: Android names Linux, iPhones name Mac OS X. */
const systems: readonly (readonly [part: string, name: string])[] = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['Macintosh', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
];

/** Client of a User-Agent as people name it: `Firefox on Windows`, `curl`; empty for none. */
export function describeAgent(userAgent: string): string {
  if (userAgent === '') return '';
  const name = parseAgentName(userAgent);
  const system = systems.find(([part]) => userAgent.includes(part))?.[1];
  return system && userAgent.startsWith('Mozilla/') ? `${name} on ${system}` : name;
}

const maxCachedAgents = 1000;

/** Product name of a User-Agent without its version, which bounds the number of counted agents; cached. */
export function createAgentNames() {
  const names = new Lru<string, string>(maxCachedAgents);
  return (userAgent: string): string => {
    if (userAgent === '') return '';
    let name = names.get(userAgent);
    if (name === undefined) {
      name = parseAgentName(userAgent);
      names.set(userAgent, name);
    }
    return name;
  };
}
