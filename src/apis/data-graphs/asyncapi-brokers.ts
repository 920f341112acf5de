import { toJsonPointer } from '#base/json-pointer.ts';
import { arrayOrEmpty, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import type { Warnings } from '../convert/converted.ts';
import { resolveLocalReference } from './local-reference.ts';
import { createDocumentProblem } from './problems.ts';

const maxServers = 100;
const maxAddressLength = 2000;
const maxBrokers = 16;
const defaultPort = '9092';
/** No templates, variables or user names: texts of the document are taken as they are. */
const brokerPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Addresses of the Kafka servers of a document by name; those of other protocols have none. */
export function readBrokers(root: JsonObject, warnings: Warnings): ReadonlyMap<string, readonly string[]> {
  const servers = Object.entries(objectOrEmpty(root.servers));
  if (servers.length > maxServers) throw createDocumentProblem('/servers', `has more than ${maxServers} servers`);
  return new Map(
    servers.map(([name, given]): [string, readonly string[]] => {
      const { value, place } = resolveLocalReference(root, given, `/servers${toJsonPointer([name])}`);
      const protocol = textOrEmpty(value.protocol).toLowerCase();
      if (protocol === 'kafka-secure')
        warnings.add(`${place}: there is no TLS to Kafka brokers: the server is left out`);
      if (protocol !== 'kafka') return [name, []];
      if (arrayOrEmpty(value.security).length > 0)
        warnings.add(`${place}: credentials are not imported: add them to the sources as sasl`);
      return [name, readAddresses(value, place)];
    }),
  );
}

/** `url` of version 2, also with several brokers, or `host` of version 3. */
function readAddresses(server: JsonObject, place: string): string[] {
  const member = server.url === undefined ? 'host' : 'url';
  const variables = objectOrEmpty(server.variables);
  const given = textOrEmpty(server[member]).slice(0, maxAddressLength + 1);
  const text = given.replaceAll(/\{([^{}]{1,100})\}/g, (whole, name: string) => {
    const found = Object.hasOwn(variables, name) ? objectOrEmpty(variables[name]).default : undefined;
    return textOrEmpty(found).slice(0, maxAddressLength) || whole;
  });
  const addresses = text.length > maxAddressLength ? [''] : text.split(',').map(toAddress);
  if (addresses.length > maxBrokers || !addresses.every(it => brokerPattern.test(it)))
    throw createDocumentProblem(
      `${place}/${member}`,
      `must be the host and port of a broker, or up to ${maxBrokers} with commas`,
    );
  return addresses.map(it => (/:\d+$/.test(it) ? it : `${it}:${defaultPort}`));
}

const toAddress = (text: string): string =>
  text
    .trim()
    .replace(/^kafka:\/\//i, '')
    .replace(/\/$/, '');
