import { RegoError } from './error.ts';
import { type RegoToken, tokenizeRego } from './lexer.ts';

/** Facts of a module in the whole language, found without parsing it. */
export interface ModuleText {
  /** Names that begin a rule. */
  readonly ruleNames: ReadonlySet<string>;
  /** The same module in another package; lines stay where they are. */
  withPackage(path: string): string;
}

/** Roots of references that reach outside of a module: other policies, the network, the process of the agent. */
const outsideRoots: ReadonlySet<string> = new Set(['data', 'http', 'net', 'opa']);

/** Functions of `json` whose schemas can refer to files and addresses. */
const schemaFunctions: ReadonlySet<string> = new Set(['match_schema', 'verify_schema']);

/** Scans a module that another interpreter runs, and rejects references that reach outside of it. */
export function scanModule(source: string): ModuleText {
  const tokens = tokenizeRego(source);
  const [first, second] = tokens;
  if (first!.kind !== 'name' || first!.text !== 'package' || second?.kind !== 'name')
    throw new RegoError('expected package and its name', first);
  const outside = tokens.find((token, index) => isOutside(token, tokens[index - 1]));
  if (outside) throw new RegoError(`${outside.text} is not allowed`, outside);
  const end = findPackageEnd(tokens);
  return {
    ruleNames: listRuleNames(tokens),
    withPackage: path => `${source.slice(0, second.start)}${path}${source.slice(end)}`,
  };
}

/** Templates in texts (`$"…"`) could hold references too; `json["match_schema"]` is `json.match_schema`. */
const isOutside = (token: RegoToken, before: RegoToken | undefined) =>
  isMark(token, '$') ||
  (token.kind === 'name' && outsideRoots.has(token.text) && !isMark(before, '.')) ||
  ((token.kind === 'name' || isMark(before, '[')) && schemaFunctions.has(token.text));

const isMark = (token: RegoToken | undefined, text: string) => token?.kind === 'mark' && token.text === text;

function findPackageEnd(tokens: readonly RegoToken[]): number {
  let index = 1;
  for (;;) {
    const [mark, part, close] = tokens.slice(index + 1, index + 4);
    if (isMark(mark, '.') && part?.kind === 'name') index += 2;
    else if (isMark(mark, '[') && part?.kind === 'string' && isMark(close, ']')) index += 3;
    else return tokens[index]!.end;
  }
}

/** Names at the start of a line outside of all brackets, and behind `default`. */
function listRuleNames(tokens: readonly RegoToken[]): Set<string> {
  const names = new Set<string>();
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'mark' && '([{'.includes(token.text)) depth++;
    if (token.kind === 'mark' && ')]}'.includes(token.text)) depth--;
    const before = tokens[index - 1];
    const isFirst = token.startsLine || isMark(before, ';') || (before?.kind === 'name' && before.text === 'default');
    if (depth === 0 && token.kind === 'name' && isFirst) names.add(token.text);
  }
  return names;
}
