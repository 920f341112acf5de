import type { FastifyReply, FastifyRequest } from 'fastify';
import { runCountedAttempt } from '../counted-attempt.ts';
import { problem, SignOnRefusal } from '../problems.ts';
import { findLoginProfile } from '../profile-sign-on.ts';
import { readSaml } from '../profiles/provider-configs.ts';
import { maxLogoutBytes } from '../route-bounds.ts';
import { auditSignOn, replyWithFailure, type SignOnAttempt } from '../sign-on-reply.ts';
import type { SamlRouteServices } from './handlers.ts';
import {
  type LogoutMessage,
  type LogoutProfile,
  type LogoutReply,
  type LogoutServices,
  receiveLogoutRequest,
  receiveLogoutResponse,
  requestLogout,
  toLogoutProfile,
} from './logout.ts';
import type { SamlProvider } from './metadata.ts';
import { type MessageName, readSignedQuery } from './redirect-binding.ts';
import { protocolNamespace } from './response.ts';
import { readSignedElement } from './signature.ts';
import { parseMessage, parseRoot } from './xml-document.ts';

type LogoutRouteServices = SamlRouteServices & LogoutServices;

const elementNames = { SAMLRequest: 'LogoutRequest', SAMLResponse: 'LogoutResponse' } as const;

/** Single logout (SAML 2.0 Profiles, section 4.4): the service for both bindings, and the begin of a sign-out. */
export const createLogoutHandlers = (services: LogoutRouteServices) => ({
  beginLogout: (request: FastifyRequest, reply: FastifyReply) =>
    replyForLogout(services, request, reply, async own => {
      const { token } = request.query as { token?: unknown };
      return sendReply(reply, await requestLogout(services, own, typeof token === 'string' ? token : ''));
    }),
  receiveLogoutQuery: (request: FastifyRequest, reply: FastifyReply) =>
    receive(services, request, reply, ({ certificates }) => readQueryMessage(request, certificates)),
  receiveLogoutForm: (request: FastifyRequest, reply: FastifyReply) =>
    receive(services, request, reply, ({ certificates }) => readPostedMessage(request, certificates)),
});

function receive(
  services: LogoutRouteServices,
  request: FastifyRequest,
  reply: FastifyReply,
  read: (provider: SamlProvider) => LogoutMessage,
): Promise<FastifyReply> {
  return replyForLogout(services, request, reply, async (own, attempt) => {
    const { OrgID, ProviderConfig, ID } = own.profile;
    const provider = await services.findSamlProvider(OrgID, readSaml(ProviderConfig));
    const message = read(provider);
    if (message.name === 'SAMLResponse') {
      await receiveLogoutResponse(services, own, provider, message);
      return sendReply(reply, undefined);
    }
    const { ended, reply: response } = await receiveLogoutRequest(services, own, provider, message);
    services.log.info({ profile: ID, sessions: ended.length }, 'identity provider ended sessions');
    const actor = { surface: 'dashboard', id: '', name: provider.entityId, orgId: OrgID, permissions: {} } as const;
    await auditSignOn(services, request, actor, 303, attempt);
    return sendReply(reply, response);
  });
}

async function replyForLogout(
  services: LogoutRouteServices,
  request: FastifyRequest,
  reply: FastifyReply,
  respond: (own: LogoutProfile, attempt: SignOnAttempt) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const attempt: SignOnAttempt = { orgId: '', object: '', action: 'singleLogout' };
  reply.header('referrer-policy', 'no-referrer');
  try {
    const profile = await findLoginProfile(services, request, attempt);
    if (profile.ProviderName !== 'SAMLProvider') throw problem.profile_unknown();
    const own = toLogoutProfile(profile, services.settings);
    return await runCountedAttempt(services.signInLimit, request.ip, () => respond(own, attempt));
  } catch (error) {
    return replyWithFailure(services, request, reply, error, attempt);
  }
}

/** Open redirect: a browser continues at the provider of the profile or at the dashboard, whatever the request has. */
function sendReply(reply: FastifyReply, message: LogoutReply | undefined): FastifyReply {
  if (!message) return reply.redirect('/', 303);
  if ('url' in message) return reply.redirect(message.url, 303);
  return reply.header('content-security-policy', message.policy).type('text/html; charset=utf-8').send(message.html);
}

/** The only message of a query or form. */
function selectName(members: URLSearchParams): MessageName {
  const names = (['SAMLRequest', 'SAMLResponse'] as const).filter(name => members.has(name));
  const [name, ...others] = names;
  if (!name || others.length > 0 || members.getAll(name).length > 1) throw problem.logout_message_missing();
  return name;
}

function readQueryMessage({ url }: FastifyRequest, certificates: readonly string[]): LogoutMessage {
  const query = url.slice(url.indexOf('?') + 1);
  if (query.length > maxLogoutBytes) throw problem.logout_message_missing();
  const name = selectName(new URLSearchParams(query));
  const { xml, relayState } = readSignedQuery(query, name, certificates);
  return { name, relayState, element: selectElement(parseMessage(xml), name) };
}

/** The message as its enveloped signature covers it. */
function readPostedMessage({ body }: FastifyRequest, certificates: readonly string[]): LogoutMessage {
  const form = new URLSearchParams(Buffer.isBuffer(body) ? body.toString('utf8') : '');
  const name = selectName(form);
  const xml = Buffer.from(form.get(name)!, 'base64').toString('utf8');
  selectElement(parseMessage(xml), name);
  const root = parseRoot(xml);
  if (root?.namespaceURI !== protocolNamespace || root.localName !== elementNames[name])
    throw new SignOnRefusal(`${elementNames[name]} missing`);
  return { name, relayState: form.get('RelayState') ?? '', element: readSignedElement(xml, root, certificates) };
}

/** One message, and of the kind that its name has: a signed request is no response. */
function selectElement(document: Record<string, unknown>, name: MessageName): unknown {
  const element = document[elementNames[name]];
  if (element === undefined) throw new SignOnRefusal(`${elementNames[name]} missing`);
  return element;
}
