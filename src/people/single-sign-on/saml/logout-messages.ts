import { formatIsoTime } from '#base/clock.ts';
import { escapeMarkup } from '#base/escape-markup.ts';
import type { ProviderSession } from '../../sessions/provider-session.ts';
import { SignOnRefusal } from '../problems.ts';
import { readNameId } from './assertion.ts';
import { listChildren, readAttribute, readElementText } from './elements.ts';

/** Messages of single logout (SAML 2.0 Core, section 3.7). */

export interface MessageHead {
  readonly id: string;
  readonly entityId: string;
  readonly destination: string;
  readonly nowMs: number;
}

const namespaces =
  'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const unspecifiedFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
/** Clock skew between an identity provider and this process. */
const skewMs = 60_000;
const maxAgeMs = 600_000;
const maxIdCharacters = 256;
const maxSessionIndexes = 100;

const formatHead = ({ id, entityId, destination, nowMs }: MessageHead, more: string) =>
  `${namespaces} ID="${id}" Version="2.0" IssueInstant="${formatIsoTime(nowMs)}" ` +
  `Destination="${escapeMarkup(destination)}"${more}><saml:Issuer>${escapeMarkup(entityId)}</saml:Issuer>`;

export function formatLogoutRequest(head: MessageHead, session: ProviderSession): string {
  const attributes = [
    ['Format', session.format],
    ['NameQualifier', session.nameQualifier],
    ['SPNameQualifier', session.spNameQualifier],
  ].map(([name, value]) => (value === '' ? '' : ` ${name}="${escapeMarkup(value!)}"`));
  const index = escapeMarkup(session.sessionIndex);
  return [
    `<samlp:LogoutRequest ${formatHead(head, '')}`,
    `<saml:NameID${attributes.join('')}>${escapeMarkup(session.nameId)}</saml:NameID>`,
    index === '' ? '' : `<samlp:SessionIndex>${index}</samlp:SessionIndex>`,
    '</samlp:LogoutRequest>',
  ].join('');
}

export const formatLogoutResponse = (head: MessageHead, inResponseTo: string): string =>
  [
    `<samlp:LogoutResponse ${formatHead(head, ` InResponseTo="${escapeMarkup(inResponseTo)}"`)}`,
    `<samlp:Status><samlp:StatusCode Value="${success}"/></samlp:Status></samlp:LogoutResponse>`,
  ].join('');

export interface ExpectedMessage {
  readonly issuer: string;
  /** Single logout service of this side. */
  readonly logoutUrl: string;
  readonly nowMs: number;
}

/** Checks what requests and responses have in common, after their signature; returns id and the end of its validity. */
export function checkMessage(message: unknown, { issuer, logoutUrl, nowMs }: ExpectedMessage) {
  const id = readAttribute(message, 'ID');
  if (id === '' || id.length > maxIdCharacters) throw new SignOnRefusal('message ID missing');
  if (readElementText(listChildren(message, 'Issuer')[0]) !== issuer) throw new SignOnRefusal('issuer mismatch');
  if (readAttribute(message, 'Destination') !== logoutUrl) throw new SignOnRefusal('Destination mismatch');
  const issuedAtMs = Date.parse(readAttribute(message, 'IssueInstant'));
  if (!(issuedAtMs <= nowMs + skewMs && issuedAtMs >= nowMs - maxAgeMs))
    throw new SignOnRefusal('IssueInstant out of range');
  return { id, expiresAtMs: issuedAtMs + maxAgeMs + 1 };
}

export interface LogoutSubject extends Omit<ProviderSession, 'sessionIndex'> {
  /** Empty: all sessions of the name identifier. */
  readonly sessionIndexes: readonly string[];
}

/** Whose sessions a checked request ends. */
export function readLogoutSubject(request: unknown, nowMs: number): LogoutSubject {
  const notOnOrAfter = readAttribute(request, 'NotOnOrAfter');
  if (notOnOrAfter !== '' && !(Date.parse(notOnOrAfter) + skewMs > nowMs))
    throw new SignOnRefusal('NotOnOrAfter in the past');
  const [nameId, ...others] = listChildren(request, 'NameID');
  if (nameId === undefined || others.length > 0) throw new SignOnRefusal('NameID missing or repeated');
  const sessionIndexes = listChildren(request, 'SessionIndex').map(readElementText);
  if (sessionIndexes.length > maxSessionIndexes) throw new SignOnRefusal(`session indexes exceed ${maxSessionIndexes}`);
  // An empty index must not become a request without one, which ends every session.
  if (sessionIndexes.includes('')) throw new SignOnRefusal('SessionIndex is empty');
  return { ...readNameId(nameId), sessionIndexes };
}

const isSameFormat = (a: string, b: string) => (a || unspecifiedFormat) === (b || unspecifiedFormat);
const isSameQualifier = (a: string, b: string) => a === '' || b === '' || a === b;

/** The request names a session: its name identifier, and its index where it names indexes. */
export const matchesSubject = (session: ProviderSession, subject: LogoutSubject): boolean =>
  session.nameId === subject.nameId &&
  isSameFormat(session.format, subject.format) &&
  isSameQualifier(session.nameQualifier, subject.nameQualifier) &&
  isSameQualifier(session.spNameQualifier, subject.spNameQualifier) &&
  (subject.sessionIndexes.length === 0 || subject.sessionIndexes.includes(session.sessionIndex));

/** Status of a checked response: the provider signed the user out. */
export function isLogoutSuccess(response: unknown): boolean {
  const [status] = listChildren(response, 'Status');
  return readAttribute(listChildren(status, 'StatusCode')[0], 'Value') === success;
}
