import { Problem } from '#base/problems.ts';
import { inviteAddress, resendInvitation } from '../../invitations/invite.ts';
import { isOrganisationAdmin, listGrantableTeams } from '../../users/member-changes.ts';
import type { StoredPortalUser } from '../../users/schema.ts';
import { readObjectId } from '../apps/own-apps.ts';
import { auditForm } from '../audit.ts';
import { type FieldErrors, renderField, renderFormError, renderTextArea } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html } from '../markup.ts';
import { maxNameChars, readOptionalNames } from '../name-fields.ts';
import {
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  teamPath,
} from '../page.ts';
import { describeLimit, emailShape, wrongEmailText } from '../pages/register.ts';
import { readRoleField, renderRoleField, renderTeamFields } from './member-fields.ts';
import { invitePath, readTeamFields } from './member-words.ts';

/** Addresses of one form. */
const maxAddresses = 50;
const maxPastedChars = 20_000;

/** The signed-in administrator of an organisation; undefined, as for a page that does not exist, for others. */
const findInviter = ({ visitor }: SiteRequest): StoredPortalUser | undefined =>
  visitor.user && isOrganisationAdmin(visitor.user) ? visitor.user : undefined;

interface InviteState {
  readonly errors: FieldErrors;
  readonly failure?: string;
  readonly status?: number;
}

async function renderInvite(
  inviter: StoredPortalUser,
  request: SiteRequest,
  services: SiteServices,
  state: InviteState,
) {
  const { form, visitor } = request;
  const { errors, failure = '', status = errors.size > 0 ? 422 : 200 } = state;
  const teams = await listGrantableTeams(inviter, services);
  const name = (field: 'first' | 'last', label: string) =>
    renderField({
      name: field,
      label,
      value: form(field),
      error: errors.get(field),
      maxLength: maxNameChars,
      isOptional: true,
    });
  const note = services.mailer.isConfigured ? '' : 'This portal has no mail server: invitations cannot be sent.';
  return {
    status,
    json: toFormErrors(errors, failure || (status >= 400 ? note : '')),
    title: 'Invite a user',
    section: 'profile',
    main: html`<form class="form broad" method="post" action="${invitePath}"><h1>Invite</h1>
${renderFormError(failure || note)}${renderCsrfField(visitor.csrfToken)}
${renderField({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  value: form('email'),
  error: errors.get('email'),
  maxLength: 254,
})}${name('first', 'First name')}${name('last', 'Last name')}
${renderTextArea({
  name: 'more',
  label: 'Further addresses',
  value: form('more'),
  error: errors.get('more'),
  help: `One in each line, up to ${maxAddresses} in all.`,
  maxLength: maxPastedChars,
  isOptional: true,
})}${renderRoleField(form('role'), errors)}${renderTeamFields(teams, new Set(readTeamFields(teams, request)))}
<button>Send invitation</button> <a class="button quiet" href="${teamPath}">Cancel</a></form>`,
  } satisfies SiteDocument;
}

async function show(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const inviter = findInviter(request);
  return inviter && renderInvite(inviter, request, services, { errors: new Map() });
}

/** Addresses of the form, each once; faults are added to `errors`. */
function readAddresses({ form }: SiteRequest, errors: Map<string, string>): string[] {
  const first = emailShape.safeParse(form('email'));
  if (!first.success) errors.set('email', wrongEmailText);
  const lines = form('more')
    .slice(0, maxPastedChars)
    .split(/[\s,;]+/)
    .filter(Boolean);
  const further = lines.map(line => emailShape.safeParse(line));
  const wrong = lines.filter((_line, place) => !further[place]!.success);
  if (wrong.length > 0) errors.set('more', `Correct these e-mail addresses: ${wrong.slice(0, 5).join(', ')}`);
  const addresses = new Set([first, ...further].flatMap(it => (it.success ? [it.data] : [])));
  if (addresses.size > maxAddresses) errors.set('more', `There are more than ${maxAddresses} addresses`);
  return [...addresses];
}

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const inviter = findInviter(request);
  if (!inviter) return undefined;
  const errors = new Map<string, string>();
  const refuse = (state: Partial<InviteState> = {}) => renderInvite(inviter, request, services, { errors, ...state });
  if (!services.mailer.isConfigured) return refuse({ status: 422 });
  const addresses = readAddresses(request, errors);
  const names = readOptionalNames(request.form, errors);
  const Role = readRoleField(request.form('role'), errors);
  if (errors.size > 0) return refuse();
  const teams = readTeamFields(await listGrantableTeams(inviter, services), request);
  const place = { organisationId: inviter.OrganisationID, teams, inviterId: inviter.ID };
  for (const [index, Email] of addresses.entries())
    try {
      const isAllowed = services.portalMailLimit.allow(Email, request.address);
      if (!isAllowed) return refuse({ failure: `${Email} has got too many mails: try again later.`, status: 429 });
      const person = index === 0 ? { First: names.first, Last: names.last } : {};
      const { invitation } = await inviteAddress({ Email, ...person, Role, ...place }, services);
      await auditForm('inviteMember', request, inviter, 303, services, String(invitation.ID));
    } catch (error) {
      return refuse(describeRefusal(error, Email));
    }
  return { redirect: `${teamPath}?done=invited` };
}

/** Why an address was not invited; those before it were. */
function describeRefusal(error: unknown, email: string): { failure: string; status: number } {
  if (!(error instanceof Problem) || error.status >= 500) throw error;
  if (error.status === 429) return describeLimit(error);
  return { failure: `${email} was not invited. ${error.message}.`, status: 422 };
}

/** An open invitation of the organisation; undefined, as for one that does not exist, for another organisation's. */
async function findOwnInvitation(request: SiteRequest, { portal }: SiteServices) {
  const inviter = findInviter(request);
  const invitation = inviter && (await portal.invitations.get(readObjectId(request.params.id!)));
  return invitation && invitation.OrganisationID === inviter.OrganisationID && invitation.UserID === 0
    ? { inviter, invitation }
    : undefined;
}

async function resend(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findOwnInvitation(request, services);
  if (!found) return undefined;
  const { invitation, inviter } = found;
  if (!services.portalMailLimit.allow(invitation.Email, request.address))
    return renderInvite(inviter, request, services, {
      errors: new Map(),
      failure: `${invitation.Email} has got too many mails: try again later.`,
      status: 429,
    });
  await resendInvitation(invitation.ID, services);
  await auditForm('resendInvitation', request, inviter, 303, services, String(invitation.ID));
  return { redirect: `${teamPath}?done=resent` };
}

async function cancel(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findOwnInvitation(request, services);
  if (!found) return undefined;
  await services.portal.invitations.remove(found.invitation.ID);
  await auditForm('cancelInvitation', request, found.inviter, 303, services, String(found.invitation.ID));
  return { redirect: `${teamPath}?done=cancelled` };
}

export const invitePages: readonly SitePage[] = [
  { method: 'GET', path: invitePath, access: 'user', respond: show },
  { method: 'POST', path: invitePath, access: 'user', respond: submit },
  { method: 'POST', path: `${teamPath}/invitations/:id/resend`, access: 'user', respond: resend },
  { method: 'POST', path: `${teamPath}/invitations/:id/cancel`, access: 'user', respond: cancel },
];
