import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gifWithImage, imageHeads, losslessWebp, lossyWebp } from '../../../tests/support/image-heads.ts';
import { detectImageType, findImageFault, maxImageSide } from './image.ts';
import { readImageSize } from './image-size.ts';

describe('Sizes of images', () => {
  test('the declared size of every type is read', () => {
    for (const [type, build] of Object.entries(imageHeads)) {
      const bytes = build([700, 400]);
      assert.equal(detectImageType(bytes), type);
      assert.deepEqual(readImageSize(bytes, type), { width: 700, height: 400 }, type);
    }
    for (const bytes of [lossyWebp([700, 400]), losslessWebp([700, 400])])
      assert.deepEqual(readImageSize(bytes, 'image/webp'), { width: 700, height: 400 });
    const larger = gifWithImage([1, 1], [5000, 20]);
    assert.deepEqual(readImageSize(larger, 'image/gif'), { width: 5000, height: 20 });
  });

  test('an image with more pixels on a side than the maximum, or without a readable size, has a fault', () => {
    for (const [type, build] of Object.entries(imageHeads)) {
      assert.equal(findImageFault(build([maxImageSide, maxImageSide]), type), undefined, type);
      assert.deepEqual(findImageFault(build([1, 60_000]), type), { size: '1 × 60000' }, type);
      assert.deepEqual(findImageFault(build([60_000, 1]), type), { size: '60000 × 1' }, type);
      const whole = build([10, 10]);
      for (let length = 0; length < 12; length++)
        assert.deepEqual(findImageFault(whole.subarray(0, length), type), {}, `${type} of ${length} bytes`);
    }
    assert.deepEqual(findImageFault(imageHeads['image/png']([0, 10]), 'image/png'), {});
    assert.deepEqual(
      findImageFault(Buffer.from('\xff\xd8\xff\xda\0\x02data and more data', 'latin1'), 'image/jpeg'),
      {},
    );
  });
});
