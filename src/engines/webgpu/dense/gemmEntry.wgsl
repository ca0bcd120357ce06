// An entry of exgemm from the sum of its products. Composed after round.wgsl.

// alpha s + beta c, rounded once. A beta of zero means that c is not read.
fn entryOf(sum: Sum, alpha: vec2<u32>, beta: vec2<u32>, c: vec2<u32>) -> Result {
  var s = sum;
  scaleSum(&s, alpha);
  return finished(s, beta, c);
}

// The same for a sum that is scaled already.
fn finished(sum: Sum, beta: vec2<u32>, c: vec2<u32>) -> Result {
  var s = sum;
  if (!isZero(beta)) { addToSum(&s, termOfProduct(beta, c)); }
  return roundSum(s, SINGLE);
}
