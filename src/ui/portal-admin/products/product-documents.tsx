import type { PortalProduct } from './portal-product.ts';
import { ProductGuides } from './product-guides.tsx';
import { ProductReferences } from './product-references.tsx';

/** Documents of a product for developers: guides, and the references of its APIs. */
export const ProductDocuments = ({ product }: { product: PortalProduct }) => (
  <div className="flex flex-col gap-4">
    <ProductGuides productId={String(product.ID)} />
    <ProductReferences product={product} />
  </div>
);
