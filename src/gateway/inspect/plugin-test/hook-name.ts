import { problem } from './problems.ts';
import type { HookType } from './schema.ts';

const exported = /^[ \t]*export\s+(?:async\s+)?(?:const|let|var|function)\s+([A-Za-z_$][\w$]*)/gm;
const pluginObject = /^[ \t]*(?:var|let|const)\s+([A-Za-z_$][\w$]*)\s*=\s*(?:new\s+)?GwJS\./gm;
const topFunction = /^function\s+([A-Za-z_$][\w$]*)/gm;

/** Name of the hook: the given one, or the only one that the code defines. */
export function findHookName(
  code: string,
  driver: string,
  hookType: HookType,
  given: string | null | undefined,
): string {
  if (given) return given;
  const pattern = hookType === 'virtual' ? topFunction : driver === 'typescript' ? exported : pluginObject;
  const names = [...new Set([...code.matchAll(pattern)].map(([, name]) => name!))];
  const [only] = names;
  if (names.length === 1) return only!;
  throw problem.name_missing({ detail: { found: names.length } });
}
