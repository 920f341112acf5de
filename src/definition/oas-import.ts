import type { Bag } from '#base/json-tree.ts';
import { at, bagOf, isBag, put } from '#base/json-tree.ts';
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
  if (!isBag(given)) return { ok: false, faults: [{ path: '', message: 'must be an object' }] };
  const document = withOperationIds(given);
  const extension: Bag = {
    info: { name: bagOf(document.info).title ?? '', state: { active: true, internal: false } },
    upstream: { url: '' },
    server: { listenPath: { value: '/', strip: true } },
    middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
  };
  if (asked.apiID) put(extension, ['info', 'id'], asked.apiID);
  const found = asked.upstreamURL ? undefined : upstreamOf(document.servers);
  if (found && 'url' in found) put(extension, ['upstream', 'url'], found.url);
  const faults = [...titleFaults(document), ...configure(extension, document, asked)];
  if (found && 'fault' in found) faults.unshift(found.fault);
  return faults.length > 0
    ? { ok: false, faults }
    : { ok: true, definition: { ...document, [extensionName]: extension } };
}

/** The API is called what the document is. What is no text is told by the rules of documents. */
const titleFaults = ({ info }: Bag): Fault[] =>
  isBag(info) && isBlank(info.title) ? [{ path: 'info.title', message: 'is required' }] : [];
const isBlank = (text: unknown) =>
  typeof text === 'string' ? text.trim() === '' : text === undefined || text === null;

/** Writes what was asked for into the gateway's part of a document. */
export function configure(extension: Bag, document: Bag, asked: ImportAsked): Fault[] {
  const { upstreamURL, listenPath, customDomain } = asked;
  const faults: Fault[] = [];
  if (upstreamURL) {
    if (isAbsolute(upstreamURL)) put(extension, ['upstream', 'url'], upstreamURL);
    else faults.push({ path: 'upstreamURL', message: 'must be an absolute URL' });
  }
  if (listenPath) put(extension, ['server', 'listenPath', 'value'], slashed(listenPath));
  if (customDomain) {
    const domain = bagOf(at(extension, ['server', 'customDomain']));
    put(extension, ['server', 'customDomain'], { ...domain, enabled: true, name: customDomain });
  }
  faults.push(...configureAuthentication(extension, document, asked));
  configureOperations(extension, document, asked);
  return faults;
}

const slashed = (path: string) => (path.startsWith('/') ? path : `/${path}`);
