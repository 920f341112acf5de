import type { Right } from '#access/keys/session.ts';
import { compileRegex, InvalidRegex } from '#base/regex.ts';
import { type PrimitiveType, primitiveTypes } from '#definition/mcp-names.ts';
import { readNames } from './primitive-names.ts';

/** Rights of a key to JSON-RPC methods and primitives of one MCP proxy. */
export interface McpRights {
  allowsMethod(method: string): boolean;
  allowsPrimitive(type: PrimitiveType, name: string): boolean;
}

interface Rules {
  readonly allowed?: readonly string[] | null | undefined;
  readonly blocked?: readonly string[] | null | undefined;
}

type NameTest = (name: string) => boolean;

const members = { tool: 'tools', resource: 'resources', prompt: 'prompts' } as const;

/** Undefined for a right without such rules. */
function compileMcpRights({ written }: Right): McpRights | undefined {
  const methods = compileRules(written.json_rpc_methods_access_rights);
  const primitives = Object.fromEntries(
    primitiveTypes.map(type => [type, compileRules(written.mcp_access_rights?.[members[type]])]),
  ) as Record<PrimitiveType, NameTest | undefined>;
  if (!methods && Object.values(primitives).every(test => test === undefined)) return undefined;
  return {
    allowsMethod: method => methods?.(method) ?? true,
    allowsPrimitive(type, name) {
      const test = primitives[type];
      return test === undefined || readNames(type, name).every(test);
    },
  };
}

/** Blocked names first, then allowed ones; without allowed names every other name is allowed. */
function compileRules(rules: Rules | null | undefined): NameTest | undefined {
  const blocked = (rules?.blocked ?? []).map(compileName);
  const allowed = (rules?.allowed ?? []).map(compileName);
  if (blocked.length + allowed.length === 0) return undefined;
  return name => !blocked.some(test => test(name)) && (allowed.length === 0 || allowed.some(test => test(name)));
}

/** Regular expression of the whole name, else the name itself. */
function compileName(source: string): NameTest {
  try {
    // Valid by itself, or it could close the group around it.
    compileRegex(source);
    const regex = compileRegex(`^(?:${source})$`);
    return name => name === source || regex.test(name);
  } catch (error) {
    if (!(error instanceof InvalidRegex)) throw error;
    return name => name === source;
  }
}

/** Rights compiled on first use, with their session. */
export function createRightsCache(): (right: Right) => McpRights | undefined {
  const cache = new WeakMap<Right, McpRights | null>();
  return right => {
    let rights = cache.get(right);
    if (rights === undefined) {
      rights = compileMcpRights(right) ?? null;
      cache.set(right, rights);
    }
    return rights ?? undefined;
  };
}
