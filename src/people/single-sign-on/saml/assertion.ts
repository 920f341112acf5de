import type { ProviderSession } from '../../sessions/provider-session.ts';
import { type AssertedUser, splitGroups } from '../asserted-user.ts';
import { SignOnRefusal } from '../problems.ts';
import type { SamlConfig } from '../profiles/provider-configs.ts';
import type { IdentityProfile } from '../profiles/schema.ts';
import { listChildren, readAttribute, readElementText } from './elements.ts';

/** Clock skew between an identity provider and this process. */
const skewMs = 60_000;
const maxAgeMs = 600_000;
const transientFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
/** Of a name identifier and a session index, which are stored with each session. */
const maxStoredCharacters = 1024;
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
/** Of the attributes that a test shows: names, and characters of one name and of its values together. */
const maxClaims = 100;
const maxClaimCharacters = 1000;
const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
/** Names of the e-mail address in use. */
const emailAttributes = [
  'email',
  'mail',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'urn:oid:0.9.2342.19200300.100.1.3',
];

export interface ExpectedAssertion {
  readonly issuer: string;
  readonly entityId: string;
  readonly redirectUrl: string;
  readonly nowMs: number;
}

export interface VerifiedAssertion {
  readonly id: string;
  /** Id of the request that it answers. */
  readonly inResponseTo: string;
  readonly expiresAtMs: number;
}

/** Checks a signed assertion (SAML 2.0 Profiles, section 4.1.4): issuer, audience, recipient, request and times. */
export function checkAssertion(assertion: unknown, expected: ExpectedAssertion): VerifiedAssertion {
  const { issuer, entityId, nowMs } = expected;
  const id = readAttribute(assertion, 'ID');
  if (id === '' || id.length > 256) throw new SignOnRefusal('assertion ID missing');
  if (readElementText(listChildren(assertion, 'Issuer')[0]) !== issuer) throw new SignOnRefusal('issuer mismatch');
  const [conditions, ...others] = listChildren(assertion, 'Conditions');
  if (conditions === undefined || others.length > 0) throw new SignOnRefusal('Conditions missing or repeated');
  checkTimes(conditions, nowMs);
  const restrictions = listChildren(conditions, 'AudienceRestriction');
  const isAudience = (it: unknown) =>
    listChildren(it, 'Audience').some(audience => readElementText(audience) === entityId);
  if (restrictions.length === 0 || !restrictions.every(isAudience)) throw new SignOnRefusal('audience mismatch');
  const issuedAtMs = Date.parse(readAttribute(assertion, 'IssueInstant'));
  if (!(issuedAtMs <= nowMs + skewMs && issuedAtMs >= nowMs - maxAgeMs))
    throw new SignOnRefusal('IssueInstant out of range');
  if (listChildren(assertion, 'AuthnStatement').length === 0) throw new SignOnRefusal('AuthnStatement missing');
  return { id, ...checkConfirmation(assertion, expected) };
}

function checkTimes(element: unknown, nowMs: number): void {
  const [notBefore, notOnOrAfter] = ['NotBefore', 'NotOnOrAfter'].map(name => readAttribute(element, name));
  if (notBefore !== '' && !(Date.parse(notBefore!) - skewMs <= nowMs))
    throw new SignOnRefusal('NotBefore in the future');
  if (notOnOrAfter !== '' && !(Date.parse(notOnOrAfter!) + skewMs > nowMs))
    throw new SignOnRefusal('NotOnOrAfter in the past');
}

/** Bearer confirmation: for this consumer, about a request, and with an end. */
function checkConfirmation(assertion: unknown, { redirectUrl, nowMs }: ExpectedAssertion) {
  const [subject, ...others] = listChildren(assertion, 'Subject');
  if (subject === undefined || others.length > 0) throw new SignOnRefusal('Subject missing or repeated');
  const confirmations = listChildren(subject, 'SubjectConfirmation').filter(
    it => readAttribute(it, 'Method') === bearer,
  );
  const [data, ...more] = confirmations.flatMap(it => listChildren(it, 'SubjectConfirmationData'));
  if (data === undefined || more.length > 0) throw new SignOnRefusal('bearer confirmation missing or repeated');
  if (readAttribute(data, 'Recipient') !== redirectUrl) throw new SignOnRefusal('recipient mismatch');
  const inResponseTo = readAttribute(data, 'InResponseTo');
  if (inResponseTo === '') throw new SignOnRefusal('response not requested (IdP-initiated)');
  if (readAttribute(data, 'NotOnOrAfter') === '') throw new SignOnRefusal('NotOnOrAfter missing');
  checkTimes(data, nowMs);
  return { inResponseTo, expiresAtMs: Date.parse(readAttribute(data, 'NotOnOrAfter')) + skewMs };
}

/** Name identifier as an assertion or a logout request has it. */
export const readNameId = (nameId: unknown): Omit<ProviderSession, 'sessionIndex'> => ({
  nameId: readElementText(nameId),
  format: readAttribute(nameId, 'Format'),
  nameQualifier: readAttribute(nameId, 'NameQualifier'),
  spNameQualifier: readAttribute(nameId, 'SPNameQualifier'),
});

/** Session of the provider; undefined without a name identifier, by which logout requests find it. */
function readProviderSession(nameId: unknown, assertion: unknown): ProviderSession | undefined {
  const [statement] = listChildren(assertion, 'AuthnStatement');
  const session = { ...readNameId(nameId), sessionIndex: readAttribute(statement, 'SessionIndex') };
  if (Object.values(session).some(text => text.length > maxStoredCharacters))
    throw new SignOnRefusal(`name identifier or session index exceeds ${maxStoredCharacters} characters`);
  return session.nameId === '' ? undefined : session;
}

/** Values by the name of their attribute, in one pass: a name can be repeated as often as a response has attributes. */
function groupValues(assertion: unknown): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const statement of listChildren(assertion, 'AttributeStatement'))
    for (const attribute of listChildren(statement, 'Attribute')) {
      const name = readAttribute(attribute, 'Name');
      const ofName = values.get(name) ?? [];
      values.set(name, ofName);
      for (const value of listChildren(attribute, 'AttributeValue')) ofName.push(readElementText(value));
    }
  return values;
}

/** Attributes of a checked assertion, for tests of a profile: a bounded part of them. */
export const readClaims = (assertion: unknown): Record<string, string[]> =>
  Object.fromEntries(
    [...groupValues(assertion)]
      .slice(0, maxClaims)
      .map(([name, values]) => [name.slice(0, maxClaimCharacters), cutValues(values)]),
  );

function cutValues(values: readonly string[]): string[] {
  const kept: string[] = [];
  let left = maxClaimCharacters;
  for (const value of values) {
    if (left <= 0) break;
    kept.push(value.slice(0, left));
    // An empty value counts too.
    left -= value.length + 1;
  }
  return kept;
}

/** User of a checked assertion. */
export function readAssertedUser(profile: IdentityProfile, config: SamlConfig, assertion: unknown): AssertedUser {
  const nameId = listChildren(listChildren(assertion, 'Subject')[0], 'NameID')[0];
  const valuesByName = groupValues(assertion);
  const readAll = (name: string) => valuesByName.get(name) ?? [];
  const readFirst = (...names: string[]) =>
    names.flatMap(name => (name === '' ? [] : readAll(name))).find(Boolean) ?? '';
  const { CustomUserIDField, CustomEmailField, CustomUserGroupField, UserGroupSeparator } = profile;
  const emailClaim = CustomEmailField || config.SAMLEmailClaim;
  const emailOfName = readAttribute(nameId, 'Format') === emailFormat ? readElementText(nameId) : '';
  const groups = CustomUserGroupField === '' ? [] : readAll(CustomUserGroupField);
  return {
    issuer: readElementText(listChildren(assertion, 'Issuer')[0]),
    subject: CustomUserIDField === '' ? readElementText(nameId) : readFirst(CustomUserIDField),
    isSubjectStable: CustomUserIDField !== '' || readAttribute(nameId, 'Format') !== transientFormat,
    email: emailClaim === '' ? readFirst(...emailAttributes) || emailOfName : readFirst(emailClaim),
    // The provider is the organisation's own: an administrator who wrote the profile is responsible for its addresses.
    isEmailVerified: true,
    displayName: [config.SAMLForenameClaim, config.SAMLSurnameClaim]
      .map(name => readFirst(name))
      .filter(Boolean)
      .join(' '),
    groups: splitGroups(groups, UserGroupSeparator),
    providerSession: readProviderSession(nameId, assertion),
  };
}
