import { z } from 'zod';
import type { Upload } from '#operations/body.ts';
import { operation } from '#operations/operation.ts';
import { imageTypes } from '../files/image.ts';
import { fileResponse, uploadedFile } from '../files/shapes.ts';
import { requireImage } from '../files/uploaded-image.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { okResponse, okStatus, type PortalRef, portalId } from '../shapes.ts';
import { toProductOwner } from './removal.ts';
import type { ProductImage, StoredProduct } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

/** The two images of a product; each row becomes three operations. */
const imageKinds = [
  {
    image: 'logo',
    read: { name: 'getProductLogo', about: 'Returns the image of the product page.' },
    write: { name: 'uploadProductLogo', about: 'Stores the image of the product page: PNG, JPEG, GIF or WebP.' },
    remove: { name: 'deleteProductLogo', about: 'Deletes the image of the product page.' },
  },
  {
    image: 'preview',
    read: { name: 'getProductPreview', about: 'Returns the image of the catalogue card; without one, the logo.' },
    write: { name: 'uploadProductPreview', about: 'Stores the image of the catalogue card: PNG, JPEG, GIF or WebP.' },
    remove: { name: 'deleteProductPreview', about: 'Deletes the image of the catalogue card.' },
  },
] as const;

async function readImage(ref: PortalRef, image: ProductImage, { portal }: Services) {
  const { ID } = present(await portal.products.get(ref), 'Product');
  const find = (slot: ProductImage) => portal.files.find(toProductOwner(ID), slot);
  const file = (await find(image)) ?? (image === 'preview' ? await find('logo') : undefined);
  if (!file) throw problem.image_missing({ detail: { owner: 'product', image } });
  return file;
}

async function storeImage(id: number, image: ProductImage, upload: Upload, { portal, records, clock }: Services) {
  const file = requireImage(upload);
  await records.write(async () => {
    const changed = await portal.products.change(id, it => withImages(it, [...(it.Images ?? []), image], clock.now()));
    present(changed, 'Product', 'unknown');
    await portal.files.put(toProductOwner(id), image, file, clock.now());
  });
}

async function removeImage(id: number, image: ProductImage, { portal, records, clock }: Services) {
  await records.write(async () => {
    const changed = await portal.products.change(id, it => {
      if (!it.Images?.includes(image)) throw problem.image_missing({ detail: { owner: 'product', image } });
      return withImages(
        it,
        it.Images.filter(each => each !== image),
        clock.now(),
      );
    });
    present(changed, 'Product');
    await portal.files.remove(toProductOwner(id), image);
  });
}

const withImages = (product: StoredProduct, images: readonly ProductImage[], nowMs: number): StoredProduct => ({
  ...product,
  Images: [...new Set(images)],
  UpdatedAt: nowMs,
});

const declared = { surface: 'portal', noun: 'products', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });

const buildImageOperations = ({ image, read, write, remove }: (typeof imageKinds)[number]) => [
  operation({
    ...declared,
    ...read,
    method: 'GET',
    path: `/portal-api/products/{product_id}/${image}`,
    params,
    returns: fileResponse,
    producesFile: imageTypes,
    problems: [problem.not_found, problem.image_missing],
    handle: ({ params: { product_id } }, services: Services) => readImage(product_id, image, services),
  }),
  operation({
    ...declared,
    ...write,
    method: 'POST',
    path: `/portal-api/products/{product_id}/${image}`,
    params,
    accepts: 'upload',
    body: uploadedFile,
    returns: okResponse,
    problems: [problem.unknown, problem.image_refused, problem.image_too_large],
    async handle({ params: { product_id }, body, audit }, services: Services) {
      const { ID } = present(await services.portal.products.get(product_id), 'Product', 'unknown');
      audit(String(ID));
      await storeImage(ID, image, body, services);
      return okStatus;
    },
  }),
  operation({
    ...declared,
    ...remove,
    method: 'DELETE',
    path: `/portal-api/products/{product_id}/${image}`,
    params,
    returns: okResponse,
    problems: [problem.not_found, problem.image_missing],
    async handle({ params: { product_id }, audit }, services: Services) {
      const { ID } = present(await services.portal.products.get(product_id), 'Product');
      audit(String(ID));
      await removeImage(ID, image, services);
      return okStatus;
    },
  }),
];

export const productImageOperations = imageKinds.flatMap(buildImageOperations);
