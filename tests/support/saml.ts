import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from './certificates.ts';

type Handler = (request: object, response: object, next: (error: unknown) => void) => void;
/** The package has no types. */
const samlp = createRequire(import.meta.url)('samlp') as Record<'auth' | 'metadata', (options: object) => Handler>;

export interface SamlUser {
  readonly id: string;
  readonly attributes: Readonly<Record<string, string | readonly string[]>>;
}

export interface SamlTestProvider {
  readonly url: string;
  readonly metadataUrl: string;
  readonly certPem: string;
  readonly keyPem: string;
  /** The user who is signed in next. */
  user: SamlUser;
  /** Options of samlp for the next response. */
  options: Record<string, unknown>;
  /** Response to an authentication request, as XML. */
  respond(requestUrl: string): Promise<string>;
  close(): Promise<void>;
}

export const samlEntityId = 'urn:test:saml-provider';

/** A SAML identity provider on loopback (samlp), which signs a user in without a form. */
export async function startSamlProvider(): Promise<SamlTestProvider> {
  const { certPem, keyPem } = makeCertificate({ cn: 'SAML provider', keyType: 'rsa' });
  const server = createServer((request, response) => {
    const url = new URL(request.url!, own.url);
    const query = Object.fromEntries(url.searchParams);
    // samlp expects the request and response of Express.
    const asked = Object.assign(request, { query, body: {}, protocol: 'http', originalUrl: request.url });
    const reply = Object.assign(response, {
      set: (name: string, value: string) => response.setHeader(name, value),
      send: (text: unknown) => response.end(String(text)),
    });
    const options = { cert: certPem, key: keyPem, ...createOptions(own) };
    const handle = url.pathname === '/metadata' ? samlp.metadata(options) : samlp.auth(options);
    handle(asked, reply, (error: unknown) => void response.writeHead(500).end(String(error)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own: SamlTestProvider = {
    url: base,
    metadataUrl: `${base}/metadata`,
    certPem,
    keyPem,
    user: { id: 'user', attributes: {} },
    options: {},
    async respond(requestUrl) {
      const page = await (await fetch(requestUrl)).text();
      const [, encoded] = /name="SAMLResponse"\s+value="([^"]+)"/.exec(page) ?? [];
      if (encoded === undefined) throw new Error(`no response: ${page.slice(0, 300)}`);
      return Buffer.from(encoded, 'base64').toString();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return own;
}

type Done = (error: unknown, url?: string | null) => void;
interface RequestDocument {
  readonly documentElement: { getAttribute(name: string): string | null };
}

const createOptions = (own: SamlTestProvider) => ({
  issuer: samlEntityId,
  signatureAlgorithm: 'rsa-sha256',
  digestAlgorithm: 'sha256',
  signAssertion: true,
  signResponse: false,
  profileMapper: ProfileMapper,
  getUserFromRequest: () => own.user,
  getPostURL(_audience: string, document: RequestDocument, _request: unknown, done: Done) {
    const url = document.documentElement.getAttribute('AssertionConsumerServiceURL');
    Object.assign(this, { recipient: url, destination: url });
    done(null, url);
  },
  redirectEndpointPath: '/sso',
  postEndpointPath: '/sso',
  ...own.options,
});

/** Called by samlp as a function; its prototype lists the claims of the metadata. */
function ProfileMapper({ id, attributes }: SamlUser) {
  return {
    getClaims: () => attributes,
    getNameIdentifier: () => ({
      nameIdentifier: id,
      nameIdentifierFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    }),
  };
}
ProfileMapper.prototype.metadata = [];
