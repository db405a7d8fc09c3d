export CUDAARCHS="80-real;90-real"
docker build -t example/app . && docker push example/app
