import type { StoredDoc } from '../docs/schema.ts';
import { partnersOf } from '../join-table-store.ts';
import { hasPersonalApps } from '../organisations/schema.ts';
import type { StoredPage } from '../pages/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { StoredPost } from '../posts/schema.ts';
import type { PostStore } from '../posts/store.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import { canSeeContent, canSeeOrganisation, canSeeTeam, canSeeUser, type Visitor } from './rules.ts';
import {
  findOffered,
  findVisibleApp,
  findVisibleApps,
  findVisibleCatalogues,
  findVisibleProduct,
  findVisibleProducts,
  findVisibleRequests,
  type VisibleProduct,
} from './visibility.ts';

export type VisibilityServices = Pick<PortalServices, 'portal'> & { posts: PostStore };

/** An object by number and name. */
interface VisibleObject {
  readonly ID: number;
  readonly Name: string;
}

/** Reads of one kind of object for a visitor: lists oldest first, undefined by id where it is not visible. */
interface KindReads {
  list(visitor: Visitor, services: VisibilityServices): Promise<VisibleObject[]>;
  find(visitor: Visitor, id: number, services: VisibilityServices): Promise<VisibleObject | undefined>;
}

const toNamed = ({ ID, Name }: VisibleObject): VisibleObject => ({ ID, Name });
const toTitled = ({ ID, Title }: { ID: number; Title: string }): VisibleObject => ({ ID, Name: Title });
const toUserName = ({ ID, Email }: StoredPortalUser): VisibleObject => ({ ID, Name: Email });

/** Reads of a kind whose lists are short enough to be searched for one object. */
const searchList = (list: KindReads['list']): KindReads => ({
  list,
  find: async (visitor, id, services) => (await list(visitor, services)).find(({ ID }) => ID === id),
});

const catalogues = searchList(async (visitor, services) =>
  (await findVisibleCatalogues(visitor, services)).map(toNamed),
);

const products: KindReads = {
  list: async (visitor, services) =>
    (await findVisibleProducts(visitor, services)).map(({ product }) => toNamed(product)),
  async find(visitor, id, services) {
    const found = await findVisibleProduct(visitor, id, services);
    return found && toNamed(found.product);
  },
};

const plans = searchList(async (visitor, services) => {
  const { portal } = services;
  if (visitor.kind === 'administrator') return (await portal.plans.all()).map(toNamed);
  const found = await portal.plans.byIds([...(await findOffered(visitor, 'plans', services))]);
  return [...found.values()].filter(plan => !plan.Hidden).map(toNamed);
});

/** A doc without its texts. */
export type DocOutline = Pick<StoredDoc, 'ID' | 'Title' | 'Path' | 'Status'>;

/** Docs of a visible product that the visitor may see, in their order. */
export async function findVisibleDocs(
  visitor: Visitor,
  { product }: VisibleProduct,
  { portal }: Pick<PortalServices, 'portal'>,
): Promise<DocOutline[]> {
  const found: DocOutline[] = [];
  for await (const batch of portal.docs.readOfProduct(product.ID))
    for (const doc of batch)
      if (canSeeContent(visitor, doc)) found.push({ ID: doc.ID, Title: doc.Title, Path: doc.Path, Status: doc.Status });
  return found;
}

const docs: KindReads = {
  async list(visitor, services) {
    const found: VisibleObject[] = [];
    for (const visible of await findVisibleProducts(visitor, services))
      found.push(...(await findVisibleDocs(visitor, visible, services)).map(toTitled));
    return found.sort((a, b) => a.ID - b.ID);
  },
  async find(visitor, id, services) {
    const doc = await services.portal.docs.find(id);
    const isVisible = doc && canSeeContent(visitor, doc);
    return isVisible && (await findVisibleProduct(visitor, doc.ProductID, services)) ? toTitled(doc) : undefined;
  },
};

const apps: KindReads = {
  list: async (visitor, services) => (await findVisibleApps(visitor, services)).map(toNamed),
  async find(visitor, id, services) {
    const app = await findVisibleApp(visitor, id, services);
    return app && toNamed(app);
  },
};

const accessRequests: KindReads = {
  list: async (visitor, services) =>
    (await findVisibleRequests(visitor, services)).map(({ ID, Names }) => ({ ID, Name: Names.app })),
  async find(visitor, id, services) {
    const request = await services.portal.accessRequests.get(id);
    const isVisible = request && (await findVisibleApp(visitor, request.AppID, services));
    return isVisible && { ID: request.ID, Name: request.Names.app };
  },
};

/** Users that a visitor may see, oldest first. */
export async function findVisibleUsers(
  visitor: Visitor,
  { portal }: Pick<PortalServices, 'portal'>,
): Promise<StoredPortalUser[]> {
  if (visitor.kind === 'anonymous') return [];
  if (visitor.kind === 'administrator') return portal.users.all();
  if (hasPersonalApps(visitor.organisationId)) return [...(await portal.users.byIds([visitor.userId])).values()];
  const users = await portal.users.ofOrganisation(visitor.organisationId);
  const teamIds = await portal.teams.members.leftOf(users.map(({ ID }) => ID));
  return users.filter(user => canSeeUser(visitor, user, partnersOf(teamIds, user.ID)));
}

const users = searchList(async (visitor, services) => (await findVisibleUsers(visitor, services)).map(toUserName));

const teams = searchList(async (visitor, { portal }) => {
  if (visitor.kind === 'anonymous') return [];
  const found =
    visitor.kind === 'administrator'
      ? await portal.teams.all()
      : await portal.teams.ofOrganisation(visitor.organisationId);
  return found.filter(team => canSeeTeam(visitor, team)).map(toNamed);
});

const organisations = searchList(async (visitor, { portal }) =>
  (await portal.organisations.all()).filter(({ ID }) => canSeeOrganisation(visitor, ID)).map(toNamed),
);

/** Pages that a visitor may see, oldest first. */
export const findVisiblePages = async (visitor: Visitor, { portal }: VisibilityServices): Promise<StoredPage[]> =>
  (await portal.pages.all()).filter(page => canSeeContent(visitor, page));

/** Posts that a visitor may see, oldest first. */
export const findVisiblePosts = async (visitor: Visitor, { posts }: VisibilityServices): Promise<StoredPost[]> =>
  visitor.kind === 'administrator' ? posts.all() : posts.allPublished();

const pages = searchList(async (visitor, services) => (await findVisiblePages(visitor, services)).map(toTitled));
const posts: KindReads = {
  list: async (visitor, services) => (await findVisiblePosts(visitor, services)).map(toTitled),
  async find(visitor, id, services) {
    const post = await services.posts.get(id);
    const isVisible = visitor.kind === 'administrator' || (post && services.posts.isPublic(post));
    return post && isVisible ? toTitled(post) : undefined;
  },
};

/** Every kind of object of the live portal. */
export const visibleKinds = {
  catalogues,
  products,
  plans,
  docs,
  apps,
  'access-requests': accessRequests,
  users,
  teams,
  organisations,
  pages,
  posts,
} satisfies Record<string, KindReads>;
export type VisibleKind = keyof typeof visibleKinds;
