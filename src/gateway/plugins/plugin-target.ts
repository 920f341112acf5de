import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { canonicalizePath, type InvalidPath, isInvalidPath } from '../http/path.ts';
import type { Exchange, RewrittenTarget } from '../pipeline/exchange.ts';
import { parseLoopControls } from '../pipeline/loops.ts';

const loopAddress = /^gw:\/\/([\w.-]{1,255})(\/[^?#]*)?(?:\?([^#]*))?$/;
const relativeUrl = /^(\/[^?#]*)(?:\?([^#]*))?$/;
const queryCharacters = /^[\x21-\x7e]*$/;

/** URL that a plugin returned: a path of the upstream, with or without the listen path, or `gw://` for another API. */
export function parsePluginUrl(text: string, call: Exchange, stripsListenPath: boolean): RewrittenTarget | InvalidPath {
  const [, loop, loopPath, loopQuery] = loopAddress.exec(text) ?? [];
  const [, ownPath, ownQuery] = relativeUrl.exec(text) ?? [];
  const path = canonicalizePath((loop === undefined ? ownPath : loopPath) ?? '/', {
    keepEncodedSlashes: true,
    keepDoubleEncoding: true,
  });
  const query = (loop === undefined ? ownQuery : loopQuery) ?? '';
  if (loop === undefined && ownPath === undefined) return { fault: 'a URL is a path or gw://' };
  if (isInvalidPath(path)) return path;
  if (!queryCharacters.test(query)) return { fault: 'the query contains characters that must be escaped' };
  if (loop === undefined) {
    const target = stripsListenPath ? removeListenPath(path, call.listenPath) : path;
    return { address: undefined, path: target, query };
  }
  const controls = parseLoopControls(query);
  return { address: { origin: '', host: '', path: '', query: '', loop, controls }, path, query: controls.query };
}

function removeListenPath(path: string, listenPath: string): string {
  const front = trimTrailingSlashes(listenPath);
  if (front === '' || (path !== front && !path.startsWith(`${front}/`))) return path;
  return path.slice(front.length) || '/';
}
