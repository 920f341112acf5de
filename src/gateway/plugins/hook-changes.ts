import type { Body } from '../http/body.ts';
import type { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PluginError } from './plugin-runner.ts';
import { formatHookUrl } from './request-hook.ts';

/** Request or response that a hook may change. */
interface ChangedPart {
  readonly headers: HeaderList;
  readonly body: Body;
  readonly status?: number;
}

/** Names in one line; further ones are counted. */
const maxNames = 20;
/** Shorter values are no secrets, and would mask words of a message. */
const minMaskedCharacters = 6;

/**
 * Changes by one hook, for explained requests: the names of headers, never their values, and sizes of bodies. Undefined
 * for other requests. The result is called once the changes are applied, or with the failure.
 */
export function watchHook(
  call: Exchange,
  name: string,
  part: ChangedPart = call,
): ((error?: PluginError) => void) | undefined {
  const { hookChanges } = call;
  if (!hookChanges) return undefined;
  const headers = readHeaders(part.headers);
  const { body, status } = part;
  const url = formatHookUrl(call);
  const bodyBytes = body.bytes?.length ?? 0;
  return error => {
    if (error) {
      hookChanges.push(`${name} failed: ${maskValues(error.message, call)}`);
      return;
    }
    const changes = [
      ...describeHeaders(headers, readHeaders(part.headers)),
      ...(formatHookUrl(call) === url ? [] : ['URL changed']),
      ...describeBody(bodyBytes, body.bytes?.length ?? 0, part.body.bytes !== body.bytes),
      ...(part.status === status ? [] : [`status ${status} to ${part.status}`]),
    ];
    hookChanges.push(`${name}: ${changes.join(', ') || 'no changes'}`);
  };
}

function readHeaders({ flat }: HeaderList): Map<string, string> {
  const values = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    values.set(name, `${values.get(name) ?? ''}\n${flat[i + 1]}`);
  }
  return values;
}

function describeHeaders(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const added = [...after.keys()].filter(name => !before.has(name));
  const removed = [...before.keys()].filter(name => !after.has(name));
  const changed = [...after].filter(([name, value]) => before.has(name) && before.get(name) !== value);
  return [
    ...formatNames('added', added),
    ...formatNames('removed', removed),
    ...formatNames(
      'changed',
      changed.map(([name]) => name),
    ),
  ];
}

function formatNames(verb: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return [`${verb} ${names.slice(0, maxNames).join(' ')}${more}`];
}

const describeBody = (before: number, after: number, isReplaced: boolean): string[] =>
  before !== after || isReplaced ? [`body ${before} to ${after} bytes`] : [];

/** A plugin may put what it read into its error: values of the request are masked. */
function maskValues(message: string, { headers, keyId }: Exchange): string {
  const values = headers.flat.filter((value, at) => at % 2 === 1 && value.length >= minMaskedCharacters);
  const parts = values.flatMap(value => [value, ...value.split(/[\s,;=]+/)]);
  return [...parts, keyId]
    .filter(value => value.length >= minMaskedCharacters)
    .sort((a, b) => b.length - a.length)
    .reduce((text, value) => text.replaceAll(value, '…'), message);
}
