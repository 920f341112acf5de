import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { makeCertificate } from './certificates.ts';

type Handler = (request: object, response: object, next: (error: unknown) => void) => void;
/** The package has no types. */
const load = createRequire(import.meta.url);
const samlp = load('samlp') as Record<'auth' | 'metadata' | 'logout', (options: object) => Handler>;
const SessionParticipants = load('samlp/lib/sessionParticipants') as new (sessions: SamlParticipant[]) => object;

/** Session of a service provider, at the provider. */
export interface SamlParticipant {
  readonly serviceProviderId: string;
  readonly serviceProviderLogoutURL: string;
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly sessionIndex: string;
  /** Certificate of the signatures of the service provider. */
  readonly cert: string;
  readonly binding?: string;
}

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
  /** Sessions that single logout ends. */
  participants: SamlParticipant[];
  /** Options of samlp for single logout. */
  logoutOptions: Record<string, unknown>;
  /** Response to an authentication request, as XML. */
  respond(requestUrl: string): Promise<string>;
  close(): Promise<void>;
}

export const samlEntityId = 'urn:test:saml-provider';

/** A SAML identity provider on loopback (samlp), which signs a user in without a form. */
export async function startSamlProvider(): Promise<SamlTestProvider> {
  const { certPem, keyPem } = makeCertificate({ cn: 'SAML provider', keyType: 'rsa' });
  const store = createStateStore();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, own.url);
    const body = Object.fromEntries(new URLSearchParams(request.method === 'POST' ? await text(request) : ''));
    const query = Object.fromEntries(url.searchParams);
    // samlp expects the request and response of Express.
    const asked = Object.assign(request, { query, body, protocol: 'http', originalUrl: request.url });
    const reply = Object.assign(response, {
      set: (name: string, value: string) => response.setHeader(name, value),
      send: (content: unknown) => response.end(String(content)),
      redirect: (location: string) => response.writeHead(302, { location }).end(),
    });
    const options = { cert: certPem, key: keyPem, ...createOptions(own) };
    const logoutOptions = {
      ...options,
      store,
      deflate: true,
      protocolBinding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
      sessionParticipants: new SessionParticipants(own.participants),
      ...own.logoutOptions,
    };
    const handle =
      url.pathname === '/metadata'
        ? samlp.metadata(options)
        : url.pathname === '/logout'
          ? samlp.logout(logoutOptions)
          : samlp.auth(options);
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
    participants: [],
    logoutOptions: {},
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

type StateDone = (error: unknown, value?: unknown) => void;

/** States of logouts in progress, in place of the session of Express. */
function createStateStore() {
  const states = new Map<string, unknown>();
  return {
    save(_request: unknown, state: unknown, done: StateDone) {
      const id = `state-${states.size}`;
      states.set(id, state);
      done(null, id);
    },
    load(_request: unknown, id: string, options: unknown, done?: StateDone) {
      (done ?? (options as StateDone))(null, states.get(id));
    },
    update(_request: unknown, id: string, state: unknown, done: StateDone) {
      states.set(id, state);
      done(null);
    },
  };
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
