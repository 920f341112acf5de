import type { UsageStore } from '#analytics/usage-store.ts';
import type { GatewayUrl } from '#apis/proxy/operations.ts';
import type { AddressPolicies } from '#base/address-policies.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { WriteAudit } from '#operations/audit.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { SignInLimit } from '#people/sessions/sign-in-limit.ts';
import type { VerifySignedToken } from '#people/single-sign-on/oidc/id-token.ts';
import type { AccountServices } from '../accounts/account-services.ts';
import type { PortalServices } from '../portal-stores.ts';
import { registrationPath } from '../portal-url.ts';
import type { PostStore } from '../posts/store.ts';
import type { SsoProfileStore } from '../sso-profiles/store.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import type { Visitor } from '../visibility/rules.ts';
import type { Markup } from './markup.ts';
import type { SignOnClients } from './sign-on/sign-on-clients.ts';

/** Services that the site is created with. */
export interface SiteBaseServices extends PortalServices, AccountServices {
  posts: PostStore;
  usage: UsageStore;
  defaultOrgId: () => Promise<string>;
  outbound: OutboundClient;
  /** Apart from that of the dashboard, whose users a flood of the public site must not lock out. */
  portalSignInLimit: SignInLimit;
  writeAudit: WriteAudit;
  log: Log;
  /** Base URLs of the gateway of this installation, the configured one first. */
  listGatewayUrls: () => readonly GatewayUrl[];
  /** Tests a header in which only a trusted proxy may describe the client. */
  isClientClaim: (name: string) => boolean;
  ssoProfiles: SsoProfileStore;
  verifySignedToken: VerifySignedToken;
  addressPolicies: AddressPolicies;
  grants: GrantStore;
}

/** Services of the pages. */
export interface SiteServices extends SiteBaseServices {
  /** Clients of identity providers. */
  signOn: SignOnClients;
}

/** The browser behind a request. */
export interface SiteVisitor {
  /** Undefined while signed out. */
  readonly user: StoredPortalUser | undefined;
  /** Rights: what the visitor may see. */
  readonly rights: Visitor;
  /** Id of the session; empty while signed out. */
  readonly sessionId: string;
  /** Token that forms of this visitor send back. */
  readonly csrfToken: string;
  /** Notifications that a signed-in visitor has not read. */
  readonly unread?: number;
  /** Theme that the visitor chose. */
  readonly theme: 'light' | 'dark' | undefined;
  /** Theme of the site that this administrator previews. */
  readonly previewedTheme: string | undefined;
}

/** Query or form fields. An absent or repeated field is empty. */
export type SiteFields = (name: string) => string;

export interface SiteRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: SiteFields;
  readonly form: SiteFields;
  readonly visitor: SiteVisitor;
  readonly address: string;
  readonly userAgent: string;
  /** Name of the portal: the title of its theme, or the setting. */
  readonly siteName: string;
  /** A page of another origin shows it in a frame. */
  readonly isEmbedded: boolean;
  readonly isSecure: boolean;
  /** Header `Cookie`. */
  readonly cookie: string | undefined;
  /** Destination of the response (Fetch Metadata); empty where the browser does not say so. */
  readonly fetchDestination: string;
}

/** A document of the site. */
export interface SiteDocument {
  readonly status?: number;
  /** Reply to a script in place of the page. */
  readonly json?: unknown;
  readonly title: string;
  readonly main: Markup;
  readonly description?: string;
  /** Navigation entry that is current. */
  readonly section?: SiteSection;
  /** The reference uses the whole width. */
  readonly isWide?: boolean;
  readonly cookies?: readonly string[];
  /** Address that the browser opens after this page, by itself. */
  readonly refreshTo?: string;
  /** Visitor whom the request has signed in. */
  readonly visitor?: SiteVisitor;
  /** Search engines may index the page, where the setting allows it. */
  readonly isIndexable?: boolean;
  /** Template of the theme, where it has it, and the data of the page for it. */
  readonly template?: PageTemplate;
}

export interface PageTemplate {
  readonly name: string;
  readonly path: string;
  /** Texts of content blocks by their names. */
  readonly blocks: Readonly<Record<string, string>>;
}

export type SiteSection = 'home' | 'catalogue' | 'blog' | 'apps' | 'profile' | 'sign-in';

/** Entry of the navigation. */
export interface SiteLink {
  readonly title: string;
  readonly path: string;
}

/** Entry of a menu; one with an empty path is the heading of its children. */
export interface SiteMenuItem extends SiteLink {
  readonly children: readonly SiteLink[];
}

export interface SiteRedirect {
  readonly redirect: string;
  /** Reply to a script in place of the address. */
  readonly json?: unknown;
  readonly cookies?: readonly string[];
}

export interface SiteFile {
  readonly file: string | Buffer;
  readonly type: string;
  readonly isImmutable?: boolean;
  /** Content security policy of the file. */
  readonly policy?: string;
  readonly status?: number;
}

export type SiteReply = SiteDocument | SiteRedirect | SiteFile;

/** One route of the site. */
export interface SitePage {
  readonly method: 'GET' | 'POST';
  /** With `:parameters`, each one segment. */
  readonly path: string;
  /** `user`: signed-out visitors are sent to the sign-in page and come back. */
  readonly access: 'all' | 'user';
  /**
   * The token of a mailed link replaces that against cross-site request forgery: a browser sends no cookie with a link
   * of another site, so that the page cannot know a visitor who is signed in.
   */
  readonly hasLinkToken?: boolean;
  /** A page of another site posts the form, which proves itself: it has no token of this site. */
  readonly isPostedAcrossSites?: boolean;
  /** Signed-out visitors get the cookie of forms with the page. */
  readonly hasVisitorForm?: boolean;
  /** The reply; undefined for what does not exist, or is not for the visitor. */
  respond(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined>;
}

/** Path of the sign-in page, which leads back to `next`. */
export const signInPath = '/auth/password/login';
export const toSignInUrl = (next: string): string => `${signInPath}?next=${encodeURIComponent(next)}`;
export const registerPath = registrationPath;
export const toRegisterUrl = (next: string): string => `${registerPath}?next=${encodeURIComponent(next)}`;
export const appsPath = '/portal/private/apps';
/** JSON representations of private pages, for scripts with the session of a developer. */
export const jsonApiPath = '/portal/private/api';
/** Redirect address of OAuth sign-ins of try-it. */
export const trySignInCallbackPath = `${jsonApiPath}/try/sign-in/callback`;
export const usagePath = '/portal/private/analytics';
export const profilePath = '/portal/private/profile';
/** The profile, with the notice that a second factor is required. */
export const requiredFactorUrl = `${profilePath}?required=second-factor`;
export const teamPath = '/portal/private/users';
export const organisationPath = '/portal/private/organisation';
export const notificationsPath = '/portal/private/notifications';
export const checkoutPath = '/portal/private/cart/provision';
export const themePreviewPath = '/portal/private/theme-preview';
export const postPreviewPath = '/portal/private/posts';
export const mailPreviewPath = '/portal/private/mail-preview';
export const cataloguePath = '/portal/catalogue-products';
export const toProductUrl = ({ Path }: { Path: string }): string => `${cataloguePath}/${encodeURIComponent(Path)}`;
