import { type AssertedUser, readGroups } from '../asserted-user.ts';
import { SignOnRefusal } from '../problems.ts';
import type { IdentityProfile } from '../profile-schema.ts';
import type { SamlConfig } from '../provider-configs.ts';
import { listChildren, readAttribute, readElementText } from './elements.ts';

/** Clock skew between an identity provider and this process. */
const skewMs = 60_000;
const maxAgeMs = 600_000;
const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
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
  if (id === '' || id.length > 256) throw new SignOnRefusal('no assertion id');
  if (readElementText(listChildren(assertion, 'Issuer')[0]) !== issuer) throw new SignOnRefusal('another issuer');
  const [conditions, ...others] = listChildren(assertion, 'Conditions');
  if (conditions === undefined || others.length > 0) throw new SignOnRefusal('not exactly one list of conditions');
  checkTimes(conditions, nowMs);
  const restrictions = listChildren(conditions, 'AudienceRestriction');
  const isAudience = (it: unknown) =>
    listChildren(it, 'Audience').some(audience => readElementText(audience) === entityId);
  if (restrictions.length === 0 || !restrictions.every(isAudience)) throw new SignOnRefusal('another audience');
  const issuedAtMs = Date.parse(readAttribute(assertion, 'IssueInstant'));
  if (!(issuedAtMs <= nowMs + skewMs && issuedAtMs >= nowMs - maxAgeMs))
    throw new SignOnRefusal('issued at another time');
  if (listChildren(assertion, 'AuthnStatement').length === 0) throw new SignOnRefusal('no authentication statement');
  return { id, ...checkConfirmation(assertion, expected) };
}

function checkTimes(element: unknown, nowMs: number): void {
  const [notBefore, notOnOrAfter] = ['NotBefore', 'NotOnOrAfter'].map(name => readAttribute(element, name));
  if (notBefore !== '' && !(Date.parse(notBefore!) - skewMs <= nowMs)) throw new SignOnRefusal('not yet valid');
  if (notOnOrAfter !== '' && !(Date.parse(notOnOrAfter!) + skewMs > nowMs)) throw new SignOnRefusal('expired');
}

/** Bearer confirmation: for this consumer, about a request, and with an end. */
function checkConfirmation(assertion: unknown, { redirectUrl, nowMs }: ExpectedAssertion) {
  const [subject, ...others] = listChildren(assertion, 'Subject');
  if (subject === undefined || others.length > 0) throw new SignOnRefusal('not exactly one subject');
  const confirmations = listChildren(subject, 'SubjectConfirmation').filter(
    it => readAttribute(it, 'Method') === bearer,
  );
  const [data, ...more] = confirmations.flatMap(it => listChildren(it, 'SubjectConfirmationData'));
  if (data === undefined || more.length > 0) throw new SignOnRefusal('not exactly one bearer confirmation');
  if (readAttribute(data, 'Recipient') !== redirectUrl) throw new SignOnRefusal('another recipient');
  const inResponseTo = readAttribute(data, 'InResponseTo');
  if (inResponseTo === '') throw new SignOnRefusal('an unsolicited response');
  if (readAttribute(data, 'NotOnOrAfter') === '') throw new SignOnRefusal('a confirmation without an end');
  checkTimes(data, nowMs);
  return { inResponseTo, expiresAtMs: Date.parse(readAttribute(data, 'NotOnOrAfter')) + skewMs };
}

/** User of a checked assertion. */
export function readAssertedUser(profile: IdentityProfile, config: SamlConfig, assertion: unknown): AssertedUser {
  const nameId = listChildren(listChildren(assertion, 'Subject')[0], 'NameID')[0];
  const attributes = listChildren(assertion, 'AttributeStatement').flatMap(it => listChildren(it, 'Attribute'));
  const readAll = (name: string) =>
    attributes
      .filter(it => readAttribute(it, 'Name') === name)
      .flatMap(it => listChildren(it, 'AttributeValue').map(readElementText));
  const readFirst = (...names: string[]) =>
    names.flatMap(name => (name === '' ? [] : readAll(name))).find(Boolean) ?? '';
  const { CustomUserIDField, CustomEmailField, CustomUserGroupField, UserGroupSeparator } = profile;
  const emailClaim = CustomEmailField || config.SAMLEmailClaim;
  const emailOfName = readAttribute(nameId, 'Format') === emailFormat ? readElementText(nameId) : '';
  const groups = CustomUserGroupField === '' ? [] : readAll(CustomUserGroupField);
  return {
    subject: CustomUserIDField === '' ? readElementText(nameId) : readFirst(CustomUserIDField),
    email: emailClaim === '' ? readFirst(...emailAttributes) || emailOfName : readFirst(emailClaim),
    // The provider is the organisation's own: an administrator who wrote the profile is responsible for its addresses.
    isEmailVerified: true,
    displayName: [config.SAMLForenameClaim, config.SAMLSurnameClaim]
      .map(name => readFirst(name))
      .filter(Boolean)
      .join(' '),
    groups: UserGroupSeparator === '' ? groups : groups.flatMap(text => readGroups(text, UserGroupSeparator)),
  };
}
