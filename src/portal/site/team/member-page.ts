import { partnersOf } from '../../join-table-store.ts';
import { changeMember, isOrganisationAdmin, listGrantableTeams, removeMember } from '../../users/member-changes.ts';
import type { StoredPortalUser } from '../../users/schema.ts';
import { readObjectId } from '../apps/own-apps.ts';
import { auditForm } from '../audit.ts';
import { describeFailure } from '../failure-text.ts';
import { renderFormError, renderSelectField } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html } from '../markup.ts';
import {
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  teamPath,
} from '../page.ts';
import { formatDay } from '../words.ts';
import { readRoleField, renderRoleField, renderTeamFields } from './member-fields.ts';
import { nameMember, readTeamFields, toMemberUrl } from './member-words.ts';

/** New owners of the apps that the form offers. */
const maxNewOwners = 1000;

interface FoundMember {
  readonly admin: StoredPortalUser;
  readonly member: StoredPortalUser;
}

/** A member of the own organisation, for its administrator; undefined, as for none, for others. */
async function findMember(
  { visitor, params }: SiteRequest,
  { portal }: SiteServices,
): Promise<FoundMember | undefined> {
  const admin = visitor.user!;
  if (!isOrganisationAdmin(admin)) return undefined;
  const member = await portal.users.get(readObjectId(params.id!));
  return member?.OrganisationID === admin.OrganisationID ? { admin, member } : undefined;
}

async function renderMember(
  { admin, member }: FoundMember,
  request: SiteRequest,
  services: SiteServices,
  failure = '',
) {
  const { portal } = services;
  const csrf = renderCsrfField(request.visitor.csrfToken);
  const teams = await listGrantableTeams(admin, services);
  const chosen = new Set(partnersOf(await portal.teams.members.leftOf([member.ID]), member.ID));
  const others = (await portal.users.ofOrganisation(admin.OrganisationID)).filter(
    it => it.Active && it.ID !== member.ID,
  );
  const newOwners = [admin, ...others.filter(it => it.ID !== admin.ID)].slice(0, maxNewOwners);
  const apps = await portal.apps.countOfUser(member.ID);
  return {
    status: failure ? 422 : 200,
    json: toFormErrors(new Map(), failure),
    title: nameMember(member),
    section: 'profile',
    main: html`<div class="head"><h1>${nameMember(member)}</h1></div>${renderFormError(failure)}
<ul class="facts"><li>${member.Email}</li><li>Member since ${formatDay(member.CreatedAt)}</li>
<li>${member.Active ? 'Active' : 'Not active'}</li></ul>
<form class="form broad" method="post" action="${toMemberUrl(member.ID)}"><h2>Role and teams</h2>${csrf}
${renderRoleField(member.Role, new Map())}${renderTeamFields(teams, chosen)}<button>Save member</button>
<a class="button quiet" href="${teamPath}">Cancel</a></form>
${
  member.ID === admin.ID
    ? ''
    : html`<form class="form broad" method="post" action="${toMemberUrl(member.ID)}/remove"><h2>Remove</h2>${csrf}
<p>The account moves to the default organisation. Its ${apps === 1 ? '1 app goes' : `${apps} apps go`} with all keys to
another member.</p>${renderSelectField({
        name: 'new_owner',
        label: 'New owner of the apps',
        value: String(admin.ID),
        options: newOwners.map(it => [String(it.ID), `${nameMember(it)} (${it.Email})`]),
      })}<button class="danger">Remove ${nameMember(member)}</button></form>`
}`,
  } satisfies SiteDocument;
}

async function show(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findMember(request, services);
  return found && renderMember(found, request, services);
}

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findMember(request, services);
  if (!found) return undefined;
  const { admin, member } = found;
  const errors = new Map<string, string>();
  const role = readRoleField(request.form('role'), errors);
  if (errors.size > 0) return renderMember(found, request, services, 'Choose a role.');
  const teams = readTeamFields(await listGrantableTeams(admin, services), request);
  try {
    await changeMember(admin.ID, member.ID, { role, teams }, services);
  } catch (error) {
    return renderMember(found, request, services, describeFailure(error, services));
  }
  await auditForm('changeMember', request, admin, 303, services, String(member.ID));
  return { redirect: `${teamPath}?done=saved` };
}

async function remove(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const found = await findMember(request, services);
  if (!found) return undefined;
  const { admin, member } = found;
  try {
    await removeMember(admin.ID, member.ID, readObjectId(request.form('new_owner')), services);
  } catch (error) {
    return renderMember(found, request, services, describeFailure(error, services));
  }
  await auditForm('removeMember', request, admin, 303, services, String(member.ID));
  return { redirect: `${teamPath}?done=removed` };
}

export const memberPages: readonly SitePage[] = [
  { method: 'GET', path: `${teamPath}/:id`, access: 'user', respond: show },
  { method: 'POST', path: `${teamPath}/:id`, access: 'user', respond: submit },
  { method: 'POST', path: `${teamPath}/:id/remove`, access: 'user', respond: remove },
];
