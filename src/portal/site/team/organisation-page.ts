import {
  approveOrganisation,
  countRecentRequests,
  maxDailyOrganisationRequests,
  requestOrganisation,
} from '../../organisation-requests/decision.ts';
import type { StoredOrganisationRequest } from '../../organisation-requests/schema.ts';
import { defaultOrganisationId, plainName } from '../../organisations/schema.ts';
import { auditForm } from '../audit.ts';
import { describeFailure } from '../failure-text.ts';
import { renderField } from '../form.ts';
import { toFormErrors } from '../json/script-reply.ts';
import { renderCsrfField } from '../layout.ts';
import { html } from '../markup.ts';
import {
  organisationPath,
  type SiteDocument,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  teamPath,
} from '../page.ts';
import { formatDay } from '../words.ts';

const title = 'Create an organization';

const renderState = (heading: string, lines: readonly string[]): SiteDocument => ({
  title,
  section: 'profile',
  main: html`<div class="notice"><h1>${heading}</h1>${lines.map(it => html`<p>${it}</p>`)}
<p><a href="${teamPath}">Team</a></p></div>`,
});

function renderForm({ visitor, form }: SiteRequest, rejected?: StoredOrganisationRequest, error = ''): SiteDocument {
  const reason = rejected?.Reason ? ` Reason: ${rejected.Reason}` : '';
  return {
    status: error ? 422 : 200,
    json: toFormErrors(new Map(), error),
    title,
    section: 'profile',
    main: html`<form class="form broad" method="post" action="${organisationPath}"><h1>Create an organisation</h1>
${
  rejected
    ? html`<p class="message" role="status">The request for ${rejected.Name} was rejected.${reason} You can ask again.</p>`
    : ''
}<p>Members of an organisation share apps. You become its administrator, and invite the others.</p>
${renderCsrfField(visitor.csrfToken)}
${renderField({ name: 'name', label: 'Name', value: form('name'), error: error || undefined, autocomplete: 'organization' })}
<button>Create organisation</button> <a class="button quiet" href="${teamPath}">Cancel</a></form>`,
  };
}

/** The newest request of the visitor; undefined for who cannot ask for an organisation. */
async function findState({ visitor }: SiteRequest, { portal, settings }: SiteServices) {
  if (visitor.rights.kind !== 'developer') return undefined;
  const last = (await portal.organisationRequests.ofUser(visitor.user!.ID)).at(-1);
  return {
    hasOrganisation: visitor.user!.OrganisationID !== defaultOrganisationId,
    isOffered: settings['portal.organisation_requests'] !== 'off',
    last,
  };
}

async function show(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const state = await findState(request, services);
  if (!state) return undefined;
  if (state.hasOrganisation) return { redirect: teamPath };
  const { last } = state;
  if (last?.Status === 'pending')
    return renderState('Your organisation waits for approval', [
      `You asked for ${last.Name} on ${formatDay(last.CreatedAt)}. You get a mail when it is decided.`,
    ]);
  if (!state.isOffered)
    return renderState('Organisations are not created here', ['Ask the administrator of this portal for one.']);
  return renderForm(request, last?.Status === 'rejected' ? last : undefined);
}

async function submit(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined> {
  const state = await findState(request, services);
  if (!state) return undefined;
  const { user } = request.visitor;
  if (state.hasOrganisation || !state.isOffered) return show(request, services);
  const name = plainName.safeParse(request.form('name'));
  if (!name.success) return renderForm(request, undefined, 'Is required, with at most 255 characters');
  if ((await countRecentRequests(user!.ID, services)) >= maxDailyOrganisationRequests)
    return renderForm(request, undefined, 'You have asked too often: try again tomorrow');
  const isOpen = services.settings['portal.organisation_requests'] === 'open';
  try {
    await services.records.write(async () => {
      const created = await requestOrganisation(name.data, user!.ID, services, { isDecided: isOpen });
      if (isOpen) await approveOrganisation(created.ID, undefined, services);
    });
  } catch (error) {
    return renderForm(request, undefined, describeFailure(error, services));
  }
  await auditForm('requestOrganisation', request, user, 303, services);
  return { redirect: isOpen ? teamPath : organisationPath };
}

export const organisationPages: readonly SitePage[] = [
  { method: 'GET', path: organisationPath, access: 'user', respond: show },
  { method: 'POST', path: organisationPath, access: 'user', respond: submit },
];
