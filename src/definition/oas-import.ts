import type { JsonObject } from '#base/json-tree.ts';
import { getAt, isObject, objectOrEmpty, setAt } from '#base/json-tree.ts';
import { extensionName } from './document-members.ts';
import { configureOperations, withOperationIds } from './oas-import-operations.ts';
import { configureAuthentication } from './oas-import-security.ts';
import { isAbsolute, upstreamOf } from './oas-import-servers.ts';
import type { Checked, Fault } from './validation-error.ts';

/** What a caller may ask for beside the document; silence about one leaves it as it is. */
export interface ImportAsked {
  readonly upstreamURL?: string | undefined;
  readonly listenPath?: string | undefined;
  readonly customDomain?: string | undefined;
  readonly apiID?: string | undefined;
  readonly authentication?: boolean | undefined;
  readonly securityProcessingMode?: 'legacy' | 'compliant' | undefined;
  readonly allowList?: boolean | undefined;
  readonly validateRequest?: boolean | undefined;
  readonly mockResponse?: boolean | undefined;
}

export const asksNothing = (asked: ImportAsked): boolean => Object.values(asked).every(value => value === undefined);

/** An API made from a document that knows nothing of the gateway. */
export function importedOas(given: unknown, asked: ImportAsked): Checked<unknown> {
  if (!isObject(given)) return { ok: false, faults: [{ path: '', message: 'must be an object' }] };
  const document = withOperationIds(given);
  const extension: JsonObject = {
    info: { name: objectOrEmpty(document.info).title ?? '', state: { active: true, internal: false } },
    upstream: { url: '' },
    server: { listenPath: { value: '/', strip: true } },
    middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
  };
  if (asked.apiID) setAt(extension, ['info', 'id'], asked.apiID);
  const found = asked.upstreamURL ? undefined : upstreamOf(document.servers);
  if (found && 'url' in found) setAt(extension, ['upstream', 'url'], found.url);
  const faults = [...titleFaults(document), ...configure(extension, document, asked)];
  if (found && 'fault' in found) faults.unshift(found.fault);
  return faults.length > 0
    ? { ok: false, faults }
    : { ok: true, definition: { ...document, [extensionName]: extension } };
}

/** The API is called what the document is. What is no text is told by the rules of documents. */
const titleFaults = ({ info }: JsonObject): Fault[] =>
  isObject(info) && isBlank(info.title) ? [{ path: 'info.title', message: 'is required' }] : [];
const isBlank = (text: unknown) =>
  typeof text === 'string' ? text.trim() === '' : text === undefined || text === null;

/** Writes what was asked for into the gateway's part of a document. */
export function configure(extension: JsonObject, document: JsonObject, asked: ImportAsked): Fault[] {
  const { upstreamURL, listenPath, customDomain } = asked;
  const faults: Fault[] = [];
  if (upstreamURL) {
    if (isAbsolute(upstreamURL)) setAt(extension, ['upstream', 'url'], upstreamURL);
    else faults.push({ path: 'upstreamURL', message: 'must be an absolute URL' });
  }
  if (listenPath) setAt(extension, ['server', 'listenPath', 'value'], slashed(listenPath));
  if (customDomain) {
    const domain = objectOrEmpty(getAt(extension, ['server', 'customDomain']));
    setAt(extension, ['server', 'customDomain'], { ...domain, enabled: true, name: customDomain });
  }
  faults.push(...configureAuthentication(extension, document, asked));
  configureOperations(extension, document, asked);
  return faults;
}

const slashed = (path: string) => (path.startsWith('/') ? path : `/${path}`);
