/** Suffix of the name in `gw://name__mcp-server`, another spelling of `gw://name/mcp`. */
export const toolSourceSuffix = '__mcp-server';

const sourcePath = /^\/mcp\/?$/;

/** Name of the REST API whose operations are the tools of an MCP proxy, from the parts of a loop; empty for another loop. */
export function readToolSource({ loop, path }: { readonly loop: string; readonly path: string }): string {
  if (loop.endsWith(toolSourceSuffix)) return loop.slice(0, -toolSourceSuffix.length);
  return sourcePath.test(path) ? loop : '';
}

/** The same from an upstream URL. */
export function findToolSource(url: string): string {
  const parsed = URL.parse(url.trim());
  return parsed?.protocol === 'gw:' ? readToolSource({ loop: parsed.host, path: parsed.pathname }) : '';
}
