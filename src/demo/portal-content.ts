import { deleteCategory } from '#portal/categories/operations.ts';
import { createDoc } from '#portal/docs/operations.ts';
import { partnersOf } from '#portal/join-table-store.ts';
import { createMenu, deleteMenu } from '#portal/menus/operations.ts';
import { createBlock } from '#portal/pages/block-operations.ts';
import { createPage, deletePage } from '#portal/pages/operations.ts';
import type { PortalServices } from '#portal/portal-stores.ts';
import { createPost, deletePost } from '#portal/posts/operations.ts';
import type { PostStore } from '#portal/posts/store.ts';
import { toApiOwner } from '#portal/products/removal.ts';
import { bookshopSchema } from './apis/bookshop-schema.ts';
import { apiIds } from './apis/demo-apis.ts';
import { ordersDocument } from './apis/orders.ts';
import { callHandler } from './handlers.ts';
import { demoPostTexts, guideTexts, helpText, paymentsDocument } from './portal-texts.ts';
import type { DemoContent } from './state.ts';

/** Texts for visitors of the demo: documents and guides of products, posts, a page, menus. */

type Services = PortalServices & { posts: PostStore };

const published = 'published';
const cataloguePath = '/portal/catalogue-products';

type DemoProducts = Readonly<Record<'orders' | 'payments' | 'bookshop', number>>;

async function addDocuments(products: DemoProducts, services: Services) {
  const { portal, clock } = services;
  const put = (product: number, apiId: string, slot: 'oas' | 'graphql', mediaType: string, text: string) =>
    portal.files.put(toApiOwner(product, apiId), slot, { mediaType, bytes: Buffer.from(text) }, clock.now());
  const add = (product: number, apiId: string, document: object) =>
    put(product, apiId, 'oas', 'application/json', JSON.stringify(document, undefined, 2));
  await add(products.orders, apiIds.orders, ordersDocument);
  await add(products.payments, apiIds.payments, paymentsDocument);
  await put(products.bookshop, apiIds.bookshop, 'graphql', 'application/graphql', bookshopSchema);
  for (const name of ['orders', 'payments'] as const) {
    const { MarkdownContent, ...guide } = guideTexts[name];
    const body = { ...guide, Content: MarkdownContent, MarkdownContent, MarkdownEnabled: true, Status: published };
    await callHandler(createDoc, services, { params: { product_id: { id: products[name] } }, body });
  }
}

const menus = [
  {
    Name: 'Header',
    Path: 'Primary',
    Items: [
      { Title: 'Products', Path: cataloguePath },
      {
        Title: 'Learn',
        Children: [
          { Title: 'Help', Path: '/help' },
          { Title: 'Engineering', Path: '/blog/category/Engineering' },
        ],
      },
      { Title: 'Blog', Path: '/blog' },
    ],
  },
  {
    Name: 'Footer',
    Path: 'Footer',
    Items: [
      { Title: 'Products', Path: cataloguePath },
      { Title: 'Help', Path: '/help' },
      { Title: 'Feed', Path: '/feed.xml' },
    ],
  },
];

export async function createPortalContent(products: DemoProducts, services: Services): Promise<DemoContent> {
  await addDocuments(products, services);
  const posts: number[] = [];
  // The first one is the newest on the site.
  for (const { MarkdownContent, ...post } of demoPostTexts.toReversed()) {
    const body = { ...post, Content: MarkdownContent, MarkdownContent, MarkdownEnabled: true, Status: published };
    posts.push(Number((await callHandler(createPost, services, { body })).ID));
  }
  const page = await callHandler(createPage, services, {
    body: { Title: 'Help', Path: '/help', Template: 'page', Status: 'Published' },
  });
  await callHandler(createBlock, services, {
    params: { page_id: { id: page.ID } },
    body: { Name: 'Text', MarkdownEnabled: true, MarkdownContent: helpText },
  });
  const menuIds: number[] = [];
  for (const body of menus) menuIds.push((await callHandler(createMenu, services, { body })).ID);
  return { posts, pages: [page.ID], menus: menuIds };
}

/** Deletes what is still there. Demos of earlier versions have none. */
export async function removePortalContent(content: DemoContent | undefined, services: Services): Promise<void> {
  const { portal, posts } = services;
  for (const id of content?.menus ?? [])
    if (await portal.menus.get(id)) await callHandler(deleteMenu, services, { params: { menu_id: { id } } });
  for (const id of content?.pages ?? [])
    if (await portal.pages.get(id)) await callHandler(deletePage, services, { params: { page_id: { id } } });
  for (const id of content?.posts ?? [])
    if (await posts.get(id)) await callHandler(deletePost, services, { params: { post_id: id } });
  if (content) await removeUnusedCategories(services);
}

/** Categories of the demo that no other post has. */
async function removeUnusedCategories(services: Services): Promise<void> {
  const { posts } = services;
  for (const name of new Set(demoPostTexts.flatMap(({ Categories }) => Categories))) {
    const category = await posts.categories.findByName(name);
    const isUnused = category && partnersOf(await posts.categorized.rightOf([category.ID]), category.ID).length === 0;
    if (isUnused) await callHandler(deleteCategory, services, { params: { category_id: { id: category.ID } } });
  }
}
