import { listEndpoints } from '../endpoints/endpoints.ts';
import { type FormObject, isJsonObject, readFieldValue, toJsonObject } from '../form/json-members.ts';
import { listDocumentOperations } from '../operations-of-document.ts';

/** Options of an import beside the document. */
export interface ImportDraft {
  readonly listenPath: string;
  readonly upstream: string;
  readonly validateRequest: boolean;
  readonly mockResponse: boolean;
  readonly authentication: boolean;
  readonly allowList: boolean;
  /** API that the document updates; empty creates a new one. */
  readonly apiId: string;
}

/** Query of an import, an update or their preview. An update leaves address and toggles that are off as they are. */
export const toImportCallQuery = ({ apiId, upstream, listenPath, ...flags }: ImportDraft) => ({
  ...(apiId === '' ? { upstreamURL: upstream, listenPath } : {}),
  ...Object.fromEntries(Object.entries(flags).map(([name, isOn]) => [name, isOn ? 'true' : ''])),
});

export const readTitle = (document: FormObject): string => String(toJsonObject(document.info).title ?? '');

/** First absolute URL of the servers of a document, with the defaults of its variables. */
export function readServerUrl(document: FormObject): string {
  for (const server of Array.isArray(document.servers) ? document.servers : []) {
    const { url, variables } = toJsonObject(server);
    const filled = String(url ?? '').replaceAll(/\{([^{}]+)\}/g, (whole, name: string) =>
      String(toJsonObject(toJsonObject(variables)[name]).default ?? whole),
    );
    if (/^https?:\/\//.test(filled)) return filled;
  }
  return '';
}

export interface RemovedOperation {
  /** Method and path. */
  readonly name: string;
  /** Middleware that goes with it. */
  readonly middleware: readonly string[];
}

export interface OperationDifference {
  readonly added: readonly string[];
  /** In both, with other members or other parameters of their path. */
  readonly changed: readonly string[];
  readonly removed: readonly RemovedOperation[];
}

/** Operations that an update adds, changes and removes. */
export function compareOperations(before: FormObject, after: FormObject): OperationDifference {
  const list = (document: FormObject) =>
    listEndpoints(document).map(({ method, path, middleware }) => ({ name: `${method} ${path}`, middleware }));
  const [old, next] = [list(before), list(after)];
  const names = { old: new Set(old.map(it => it.name)), next: new Set(next.map(it => it.name)) };
  const [oldTexts, nextTexts] = [listOperationTexts(before), listOperationTexts(after)];
  return {
    added: next.map(it => it.name).filter(name => !names.old.has(name)),
    changed: [...nextTexts].flatMap(([name, text]) =>
      oldTexts.has(name) && oldTexts.get(name) !== text ? [name] : [],
    ),
    removed: old.filter(({ name }) => !names.next.has(name)),
  };
}

/** Operations as texts that do not depend on the order of members. */
const listOperationTexts = (document: FormObject): ReadonlyMap<string, string> =>
  new Map(
    listDocumentOperations(document).map(({ method, path, value }) => {
      const { parameters } = toJsonObject(readFieldValue(document, ['paths', path]));
      return [`${method} ${path}`, JSON.stringify([value, parameters], sortMembers)];
    }),
  );

const sortMembers = (_name: string, value: unknown) =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
